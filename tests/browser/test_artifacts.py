"""Artifacts in the page, over its own spool: the memory of a large text, and hostile patterns, paths and documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import SiteServer
from tests.artifacts.shelves import HOSTILE_PATHS
from tests.browser.python_page import PythonPage

pytestmark = pytest.mark.browser

#: Bytes of the large text.
LARGE = 100_000_000

#: Bytes that Python may have allocated at once for it, as tracemalloc counts them.
MOST_ALLOCATED = 5_000_000

#: The heap grows by a fifth at a time; one step is allowed to whatever was there before.
ONE_STEP = 1.21

#: Seconds in which a hostile pattern or path has to end.
SOON = 1.0

#: Seconds within which a message is heard. The loop yields every 50 ms, and a message waits for two yields at most:
#: 0.10 to 0.16 s were measured. Machines that run tests are busy.
HEARD = 0.4

_SHELF = """
import asyncio, time
import js
from pyodide.ffi import create_proxy
from py_agent.artifacts.readers import readers
from py_agent.artifacts.shelf import Shelf
from py_agent.model.tool import ToolError, ToolResult
from py_agent.prompt.tokens import estimate_tokens
from py_agent.runner.breathe import Breather

KINDS = ("text", "json", "markdown")
worker = storage("artifacts")

async def new_shelf(prefix):
    await worker.open()
    shelf = Shelf(worker, prefix, count=estimate_tokens, nonce=lambda: "0a1b2c3d", inline_tokens=256,
                  reader_tokens=800, breathe=Breather(50))
    return shelf, {tool.name: tool for tool in readers(shelf, KINDS)}

async def read(tools, reader, **arguments):
    tool = tools[reader]
    try:
        return (await tool.handler(tool.parse({"call_id": "c1", **arguments}), None)).text
    except ToolError as error:
        return f"error {error.code}: {error.message}"

async def with_messages(reading):
    # Runs a read while messages come in, as a click on stop does; tells how late the latest of them was, in seconds.
    js.late.length = 0
    begun = time.perf_counter()
    text = await reading
    seconds = time.perf_counter() - begun
    await asyncio.sleep(0.05)
    return {"text": text, "seconds": seconds, "late": max(js.late.to_py()) / 1000}

async def stopped(reading):
    # Stops a read by a message that is sent after a tenth of a second; tells how long the read went on for, in seconds.
    task = asyncio.create_task(reading)
    begun = time.perf_counter()
    stop = create_proxy(task.cancel)
    js.stopSoon(stop, 100)
    try:
        await task
        return None
    except asyncio.CancelledError:
        return time.perf_counter() - begun
    finally:
        stop.destroy()
"""


#: A thread that sends a message every ten milliseconds, and one more when a read is to be stopped.
_MESSAGES = """() => {
  const source = "setInterval(() => postMessage(performance.timeOrigin + performance.now()), 10);"
    + "onmessage = ({data}) => setTimeout(() => postMessage('stop'), data)";
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  let stop = null;
  window.late = [];
  window.stopSoon = (callback, ms) => { stop = callback; worker.postMessage(ms); };
  worker.onmessage = ({data}) => {
    if (data === "stop") stop();
    else window.late.push(performance.timeOrigin + performance.now() - data);
  };
}"""


@pytest.fixture(scope="module")
def python(browser: BrowserContext, server: SiteServer, assets: dict[str, Any]) -> Iterator[PythonPage]:
    page = browser.new_page()
    page.goto(server.url)
    python = PythonPage(page, f"{server.url}/agent/", assets)
    page.evaluate("code => pyodide.runPython(code)", _SHELF)
    page.evaluate("window.heap = () => pyodide._module.HEAP8.length")
    page.evaluate(_MESSAGES)
    yield python
    page.close()


def test_a_text_of_100_mb_is_written_and_read_in_little_memory(python: PythonPage) -> None:
    found = python.run(
        """
        import _tracemalloc as tracemalloc

        shelf, tools = await new_shelf("turns/large/")
        line = "a line of words that says nothing in particular, number %08d of very many, and no more\\n"

        async def rows():
            made, number = 0, 0
            while made < large:
                rows = "".join(line % at for at in range(number, number + 300))
                made += len(rows)
                number += 300
                yield rows

        await read(tools, "artifact_cat")  # what is imported or compiled once is not what is measured
        before = js.heap()
        tracemalloc.start(1)
        begun = time.perf_counter()
        shown = await shelf.take("c1", "tool", ToolResult(stream=rows(), summary="rows"))
        written = time.perf_counter() - begun
        writing = tracemalloc.get_traced_memory()[1]
        told, spent = {}, {}
        middle = shelf.lines("c1") // 2
        for name, arguments in (
            ("artifact_cat", {"start": middle}),
            ("artifact_head", {}),
            ("artifact_tail", {}),
            ("artifact_grep", {"pattern": "number 00001234"}),
            ("artifact_line_count", {}),
            ("artifact_byte_length", {}),
            ("artifact_estimate_tokens", {}),
            ("artifact_json_get", {"path": "$"}),
        ):
            begun = time.perf_counter()
            told[name] = await read(tools, name, **arguments)
            spent[name] = round(time.perf_counter() - begun, 3)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return {"shown": shown.text, "told": told, "middle": middle, "writing": writing, "peak": peak,
                "heap": [before, js.heap()], "size": await worker.size(shown.spool_key), "written": written,
                "spent": spent}
        """,
        large=LARGE,
    )
    told = found["told"]
    assert found["size"] >= LARGE
    assert found["peak"] <= MOST_ALLOCATED
    assert found["heap"][1] <= found["heap"][0] * ONE_STEP
    assert f"number {found['middle'] - 1:08d} of very many" in told["artifact_cat"]
    assert "number 00000000" in told["artifact_head"]
    assert told["artifact_tail"].endswith("That was all of c1.")
    assert "number 00001234 of" in told["artifact_grep"]
    assert told["artifact_byte_length"] == f"c1: {found['size']} bytes."
    assert "c1 is plain text" in told["artifact_json_get"]


def test_hostile_patterns_end_soon_and_stop_works_meanwhile(python: PythonPage) -> None:
    patterns = ["(a+)+$", "(a|a)*b", "[ab]*c", "a{0,500}!", ".*!", ".*.*.*!", "a|ab|abc|abcd.*"]
    found = python.run(
        """
        shelf, tools = await new_shelf("turns/patterns/")
        await shelf.take("c1", "tool", ToolResult(text="a" * 500_000 + "ab" * 250_000))
        ends = [await with_messages(read(tools, "artifact_grep", pattern=pattern)) for pattern in patterns]
        stops = [await stopped(read(tools, "artifact_grep", pattern=pattern)) for pattern in ("[ab]*c", ".*!")]
        return {"ends": ends, "stops": stops}
        """,
        patterns=patterns,
    )
    for pattern, end in zip(patterns, found["ends"], strict=True):
        assert end["seconds"] < SOON, pattern
        assert end["late"] < HEARD, pattern
    assert [end["text"].startswith("error bad_pattern") for end in found["ends"]] == [
        True,
        True,
        False,
        False,
        False,
        True,
        False,
    ]
    for seconds in found["stops"]:
        assert seconds is not None
        assert seconds < 0.1 + HEARD


def test_hostile_paths_end_soon_and_stop_works_meanwhile(python: PythonPage) -> None:
    found = python.run(
        """
        shelf, tools = await new_shelf("turns/paths/")
        value = [{"a": [[number] * 5, {"b": {"c": [number]}}]} for number in range(22_000)]
        text = json.dumps(value)
        await shelf.take("c1", "tool", ToolResult(text=text, kind="json"))
        first = await with_messages(read(tools, "artifact_json_get", path="$[0].a[0][0]"))
        ends = [await with_messages(read(tools, "artifact_json_get", path=path)) for path in paths]
        stop = await stopped(read(tools, "artifact_json_get", path=paths[0]))
        return {"size": len(text), "first": first, "ends": ends, "stop": stop}
        """,
        paths=[*HOSTILE_PATHS, "$[?match(@.a, '(a+)+$')]"],
    )
    assert found["size"] > 1_000_000
    for path, end in zip([*HOSTILE_PATHS, "match"], found["ends"], strict=True):
        assert end["seconds"] < SOON, path
        assert end["late"] < HEARD, path
    assert found["ends"][-1]["text"].startswith("error bad_path")
    assert all("there may be more" in end["text"] for end in found["ends"][:-1])
    assert found["stop"] is not None
    assert found["stop"] < 0.1 + HEARD


def test_brackets_without_end_are_an_error_and_python_goes_on(python: PythonPage) -> None:
    found = python.run(
        """
        shelf, tools = await new_shelf("turns/deep/")
        told = []
        for number, unit in enumerate(["[", '{"a":', "{a:[", "['x',"]):
            await shelf.take(f"d{number}", "tool", ToolResult(text=unit * 300_000, kind="json"))
            told.append(await read(tools, "artifact_json_get", call_id=f"d{number}", path="$"))
        return told
        """
    )
    assert all(text.startswith("error not_json") for text in found), found
    assert python.run("return 6 * 7") == 42


def test_four_megabytes_of_json_hold_the_page_for_moments(python: PythonPage) -> None:
    found = python.run(
        """
        shelf, tools = await new_shelf("turns/json/")
        row = {"id": 1, "name": "item", "tags": ["a", "b"], "nested": {"x": [1, {"z": "deep"}]}, "text": "words " * 12}
        rows = [row] * (3_900_000 // len(json.dumps(row) + ", "))
        text = json.dumps(rows)
        del rows
        await shelf.take("c1", "tool", ToolResult(text=text, kind="json"))
        got = await with_messages(read(tools, "artifact_json_get", path="$[7].name"))
        again = await with_messages(read(tools, "artifact_json_length"))
        return {"size": len(text), "got": got, "again": again}
        """
    )
    assert "item" in found["got"]["text"]
    assert found["got"]["late"] < 0.5
    assert found["again"]["seconds"] < 0.1
