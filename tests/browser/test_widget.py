"""The whole thing as a reader has it: script tag, widget, Python, index, storage; under both hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from py_agent.model.errors import AgentError
from py_agent.site.serve import Canned, SiteServer
from py_agent.testing.chromium import open_chromium
from py_agent.testing.driver import WidgetDriver
from py_agent.testing.verify import verify_citation

pytestmark = pytest.mark.browser

QUESTION = "How do I install the lantern?"

#: The smallest policy that lets everything run.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; img-src data:"
)

Visit = Callable[..., WidgetDriver]


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """One Chromium with a profile on disk: threads are kept there."""
    with open_chromium() as context:
        yield context


@pytest.fixture(params=["worker", "main"])
def harness(request: pytest.FixtureRequest) -> str:
    """Where Python runs."""
    name: str = request.param
    return name


@pytest.fixture
def visit(docs: Path, index: Path, dist: Path, harness: str, browser: BrowserContext) -> Iterator[Visit]:
    """Opens a page of the indexed site: ``visit(headers={...}, missing="sqlite3")``. Each test has its own origin."""
    with SiteServer(docs, mounts={"/agent": dist / "agent", "/agent/index": index}) as server:
        server.inject = (
            '<script src="/agent/py-agent.js" data-index="/agent/index/manifest.json" data-title="Ask Lantern"'
            f' data-harness="{harness}"></script>'
        )
        drivers: list[WidgetDriver] = []

        def visit(headers: dict[str, str] | None = None, missing: str = "") -> WidgetDriver:
            server.headers.update(headers or {})
            if missing:
                server.canned[f"/agent/{missing}"] = Canned()
            page = browser.new_page()
            page.goto(server.url + "/install.html")
            drivers.append(WidgetDriver(page))
            return drivers[-1]

        yield visit
        for driver in drivers:
            driver.page.close()


def test_a_question_gets_an_answer_whose_citation_holds(visit: Visit, docs: Path) -> None:
    driver = visit()
    assert driver.open() == "ready"
    answer = driver.ask(QUESTION)
    assert answer.status == "answered", answer
    assert "pip install lantern" in answer.text
    source = answer.sources[0]
    verify_citation(docs, source["page"], source["anchor"], source["quote"])
    assert source["link"].endswith("/install.html#install")
    assert driver.messages()[-1].links[0] == source["link"]


def test_a_reload_keeps_the_conversation(visit: Visit) -> None:
    driver = visit()
    driver.ask(QUESTION)
    before = driver.messages()
    driver.page.reload()
    driver.open()
    driver.element.locator(".answer").wait_for()
    assert driver.messages() == before
    driver.new_conversation()
    driver.page.reload()
    driver.open()
    driver.page.wait_for_timeout(200)
    assert driver.messages() == []


def test_what_the_docs_do_not_say_is_not_answered(visit: Visit) -> None:
    answer = visit().ask("Which submarine did Cousteau captain?")
    assert answer.status == "abstained"
    assert answer.sources == []


def test_a_stopped_answer_lets_the_next_question_through(visit: Visit) -> None:
    driver = visit()
    driver.open()
    ask = driver.begin(QUESTION)
    driver.page.evaluate("document.querySelector('py-agent-widget').shadowRoot.querySelector('button.stop').click()")
    assert driver.wait(ask).status == "stopped"
    assert driver.ask("How do I dim the light?").status == "answered"


def test_a_second_tab_searches_and_takes_over(visit: Visit) -> None:
    first, second = visit(), visit()
    assert first.open() == "ready"
    assert second.open() == "waiting"
    field = second.element.locator("textarea")
    field.fill("dim the light")
    field.press("Enter")
    second.element.locator("[data-status=search] a").first.wait_for(timeout=10_000)
    first.page.close()
    second.element.locator(".footnote", has_text="no model").wait_for(timeout=30_000)
    assert second.ask(QUESTION).status == "answered"


def test_it_runs_under_a_strict_policy(visit: Visit) -> None:
    assert visit(headers={"Content-Security-Policy": POLICY}).ask(QUESTION).status == "answered"


def test_a_policy_without_webassembly_is_named(visit: Visit) -> None:
    driver = visit(headers={"Content-Security-Policy": POLICY.replace(" 'wasm-unsafe-eval'", "")})
    with pytest.raises(AgentError, match="wasm-unsafe-eval") as failure:
        driver.open()
    assert failure.value.code == "csp"
    assert driver.element.locator(".notice .error").is_visible()


def test_a_missing_index_is_named(visit: Visit) -> None:
    with pytest.raises(AgentError, match=r"index/manifest\.json") as failure:
        visit(missing="index/manifest.json").open()
    assert failure.value.code == "missing_index"
    assert "py-agent index" in failure.value.hint


def test_a_missing_asset_is_named(visit: Visit, assets: dict[str, str]) -> None:
    with pytest.raises(AgentError) as failure:
        visit(missing=assets["sqliteWasm"]).open()
    assert assets["sqliteWasm"] in str(failure.value)
