"""A real session whose model asks its reader, in the real dialog: Pyodide, storage worker, tools, gates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import Canned, SiteServer
from py_agent.testing.chromium import open_chromium
from py_agent.testing.driver import WidgetDriver

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "tests" / "fixtures" / "web" / "scripted_engine.js"

#: Milliseconds that a reader has for something while the model "thinks".
THINKING_MS = 1_500

Visit = Callable[..., WidgetDriver]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"call": {"name": name, "arguments": arguments}}


DONE = call("say_i_dont_know", reason="The docs do not say it.")


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """One Chromium with a profile on disk: threads are kept there."""
    with open_chromium() as context:
        yield context


@pytest.fixture
def visit(docs: Path, index: Path, dist: Path, assets: dict[str, Any], browser: BrowserContext) -> Iterator[Visit]:
    """Opens a page of the indexed site, its model replaced by a script: ``visit([call(...), ...], harness="main")``."""
    with SiteServer(docs, mounts={"/agent": dist / "agent", "/agent/index": index}) as server:
        server.canned[f"/agent/{assets['engine']}"] = Canned(200, ENGINE.read_bytes(), "text/javascript")
        drivers: list[WidgetDriver] = []

        def visit(script: list[dict[str, Any]], harness: str = "worker") -> WidgetDriver:
            model = f"/model.litertlm?script={quote(json.dumps(script))}"
            server.inject = (
                '<script src="/agent/py-agent.js" data-index="/agent/index/manifest.json" data-engine="litert"'
                f' data-model-url="{model}" data-harness="{harness}"></script>'
            )
            page = browser.new_page()
            page.goto(server.url + "/install.html")
            drivers.append(WidgetDriver(page))
            assert drivers[-1].open() == "ready"
            return drivers[-1]

        yield visit
        for driver in drivers:
            driver.page.close()


@pytest.mark.parametrize("harness", ["worker", "main"])
def test_what_the_model_asks_is_answered_in_the_dialog(visit: Visit, harness: str) -> None:
    driver = visit([call("ask_reader", question="Which lantern?", choices=["red", "green"]), DONE], harness)
    ask = driver.begin("How do I repaint it?")
    gate = driver.element.get_by_role("group", name="The assistant asks you")
    gate.wait_for()
    assert "Which lantern?" in gate.inner_text()
    gate.get_by_role("button", name="green").click()
    assert driver.wait(ask).status == "abstained"
    assert driver.element.locator(".decision .outcome").inner_text() == "You answered: green"
    assert driver.element.locator(".gate").count() == 0


def test_a_page_opens_only_when_the_reader_allows_it(visit: Visit) -> None:
    driver = visit(
        [call("navigate_to_page", page="light.html"), DONE, call("navigate_to_page", page="light.html"), DONE]
    )
    ask = driver.begin("Show me how to dim it.")
    driver.element.locator(".gate").wait_for()
    assert "light.html" in driver.element.locator(".gate .detail").inner_text()
    driver.element.get_by_role("button", name="Don't allow").click()
    assert driver.wait(ask).status == "abstained"
    assert driver.page.url.endswith("/install.html")

    driver.begin("Show me after all.")
    driver.element.locator(".gate").wait_for()
    with driver.page.expect_navigation(url="**/light.html"):
        driver.element.get_by_role("button", name="Allow", exact=True).click()
    # The turn was stored before the page was left.
    assert driver.open() == "ready"
    driver.element.locator(".answer").nth(1).wait_for()
    assert [message.role for message in driver.messages()] == ["user", "assistant"] * 2


def test_stop_while_the_model_asks_leaves_a_question_to_ask_again(visit: Visit) -> None:
    driver = visit([call("ask_reader", question="Which lantern?"), DONE])
    ask = driver.begin("How do I repaint it?")
    driver.element.locator(".gate").wait_for()
    driver.stop()
    assert driver.wait(ask).status == "stopped"
    assert driver.element.locator(".gate").count() == 0
    driver.page.reload()
    assert driver.open() == "ready"
    driver.element.get_by_role("button", name="Ask again").wait_for()


def test_what_the_reader_adds_is_stored_and_shown_after_a_reload(visit: Visit) -> None:
    thinking = {**call("search_docs", query="dim the light"), "pause": THINKING_MS}
    driver = visit([thinking, DONE])
    ask = driver.begin("How do I dim it?")
    driver.element.get_by_role("button", name="Add to the question").wait_for()
    field = driver.element.locator(".composer textarea")
    field.fill("I mean the light.")
    field.press("Enter")
    assert driver.wait(ask).status == "abstained"
    before = driver.messages()
    assert [message.text for message in before][:2] == ["How do I dim it?", "I mean the light."]
    assert [message.role for message in before] == ["user", "user", "assistant"]
    driver.page.reload()
    assert driver.open() == "ready"
    driver.element.locator(".answer").wait_for()
    assert driver.messages() == before


def test_an_interrupted_question_is_asked_again_once(visit: Visit) -> None:
    driver = visit([{**DONE, "pause": THINKING_MS}])
    driver.begin("How do I dim it?")
    driver.element.locator("[data-status=running]").wait_for()
    driver.page.wait_for_timeout(THINKING_MS / 3)
    driver.page.reload()
    assert driver.open() == "ready"
    driver.element.get_by_role("button", name="Ask again").click()
    driver.element.locator("[data-status=abstained]").wait_for()
    before = driver.messages()
    assert [message.role for message in before] == ["user", "assistant"]
    driver.page.reload()
    assert driver.open() == "ready"
    driver.element.locator(".answer").wait_for()
    # The store keeps both; the reader sees the one that was answered.
    assert driver.messages() == before
