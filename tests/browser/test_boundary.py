"""Values and callbacks between Python and JavaScript: nothing changes on the way, and nothing is left behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.browser.protocol import wire_text
from py_agent.site.serve import SiteServer
from tests.browser.python_page import PythonPage

FIXTURES = Path(__file__).parents[1] / "fixtures"
CASE = json.loads((FIXTURES / "cases" / "P07.json").read_text(encoding="utf-8"))
TOKENS = CASE["stream"]["tokens"]
BIG = 9007199254740993

#: Proxies that may come and go between two looks: garbage is collected when it is.
TOLERANCE = 5

_LINES = """
async ([source, tokens]) => {
  const lines = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  Object.assign(window, { echo: lines.echo, gone: lines.gone, talk: lines.talker(tokens) });
  pyodide._module.enable_pyproxy_allocation_tracing();
}
"""

_PORTS = """
ports = {name: WorkerPort(LineWire(getattr(js, name)), f"{name} worker") for name in ("echo", "gone", "talk")}

def live():
    import gc
    gc.collect()
    return js.pyodide._module.pyproxy_alloc_map.size

async def turn(fail_at=None):
    got = []
    async with aclosing(ports["talk"].stream({"type": "generate"})) as answers:
        async for answer in answers:
            if answer["type"] == "chunk":
                got.append(answer["text"])
                if fail_at == len(got):
                    raise ValueError("the callback failed")
    return got
"""


@pytest.fixture(scope="module")
def python(browser: BrowserContext, server: SiteServer, assets: dict[str, Any]) -> Iterator[PythonPage]:
    page = browser.new_page()
    page.goto(server.url)
    python = PythonPage(page, f"{server.url}/agent/", assets)
    page.evaluate(_LINES, [(FIXTURES / "web" / "lines.js").read_text(encoding="utf-8"), TOKENS])
    page.evaluate("code => pyodide.runPython(code)", _PORTS)
    yield python
    page.close()


def test_numbers_that_javascript_would_round_are_told_as_text() -> None:
    assert json.loads(wire_text({"a": [BIG, -BIG, 2**53 - 1, True], "b": "12345678901234567890"})) == {
        "a": [str(BIG), str(-BIG), 2**53 - 1, True],
        "b": "12345678901234567890",
    }


@pytest.mark.browser
@pytest.mark.parametrize("value", CASE["roundtrip"], ids=lambda value: json.dumps(value)[:30])
def test_a_value_goes_over_and_comes_back_the_same(python: PythonPage, value: Any) -> None:
    back = python.run('return await ports["echo"].request({"type": "echo", "value": value})', value=value)
    expected = json.loads(wire_text(value))
    assert back == expected
    seen = python.page.evaluate("window.seen")
    assert json.loads(seen["text"]) == expected
    if isinstance(value, dict):
        assert seen["kind"] == "[object Object]"
        assert back.get("g", str(BIG)) == str(BIG)


@pytest.mark.browser
def test_undefined_and_null_both_arrive_as_none(python: PythonPage) -> None:
    assert python.run('return await ports["gone"].request({"type": "x"})') is None
    assert python.run('return await ports["echo"].request({"type": "x", "value": None})') is None


@pytest.mark.browser
def test_every_token_arrives_in_order_and_no_proxy_stays(python: PythonPage) -> None:
    first, before, after_one, after_twenty = python.run(
        """
        await turn()
        before = live()
        first = await turn()
        after_one = live()
        for _ in range(19):
            await turn()
        return [first, before, after_one, live()]
        """
    )
    assert first == [f"t{number}" for number in range(1, TOKENS + 1)]
    assert before > 0
    assert abs(after_one - before) <= TOLERANCE
    assert abs(after_twenty - before) <= TOLERANCE
    assert not [line for line in python.console if "borrowed proxy" in line]


@pytest.mark.browser
def test_an_exception_while_tokens_come_ends_the_turn_and_the_next_one_works(python: PythonPage) -> None:
    found = python.run(
        """
        try:
            await turn(fail_at=5)
        except ValueError as error:
            told = str(error)
        return [told, len(await turn())]
        """
    )
    assert found == ["the callback failed", TOKENS]
