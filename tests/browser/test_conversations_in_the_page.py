"""Conversations through the real session: what is stored is found, saved, read back and deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium
from py_agent.testing.driver import WidgetDriver

pytestmark = pytest.mark.browser

FIRST = "How do I install the lantern?"
SECOND = "How do I dim the light?"


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """One Chromium with a profile on disk: threads are kept there."""
    with open_chromium() as context:
        yield context


@pytest.fixture
def driver(docs: Path, index: Path, dist: Path, browser: BrowserContext) -> Iterator[WidgetDriver]:
    """An open dialog with two conversations of one answered question each."""
    with SiteServer(docs, mounts={"/agent": dist / "agent", "/agent/index": index}) as server:
        server.inject = '<script src="/agent/py-agent.js" data-index="/agent/index/manifest.json"></script>'
        page = browser.new_page()
        page.goto(server.url + "/install.html")
        driver = WidgetDriver(page)
        assert driver.open() == "ready"
        assert driver.ask(FIRST).status == "answered"
        driver.new_conversation()
        assert driver.ask(SECOND).status == "answered"
        yield driver
        page.close()


def show(driver: WidgetDriver) -> None:
    driver.element.get_by_role("button", name="Conversations", exact=True).click()
    driver.element.locator(".thread-list li").first.wait_for()


def titles(driver: WidgetDriver) -> list[str]:
    return driver.element.locator(".thread-title").all_inner_texts()


def test_a_conversation_is_found_opened_and_goes_on(driver: WidgetDriver) -> None:
    show(driver)
    assert titles(driver) == [SECOND, FIRST]
    driver.element.locator(".threads input[type=search]").fill("install")
    driver.element.locator(".snippet mark").first.wait_for()
    assert titles(driver)[0] == FIRST
    driver.element.get_by_role("button", name=FIRST).first.click()
    driver.element.locator(".answer").wait_for()
    assert driver.messages()[0].text == FIRST
    assert driver.ask("How do I upgrade the lantern?").status == "answered"
    show(driver)
    assert titles(driver) == [FIRST, SECOND]


def test_a_conversation_is_saved_deleted_and_read_back(driver: WidgetDriver) -> None:
    before = driver.messages()
    show(driver)
    with driver.page.expect_download() as download:
        driver.element.get_by_role("button", name=f"Save as file: {SECOND}").click()
    path = download.value.path()
    assert SECOND in json.dumps(json.loads(path.read_text(encoding="utf-8")))
    driver.element.get_by_role("button", name=f"Delete: {SECOND}").click()
    driver.element.get_by_role("button", name=f"Delete for good: {SECOND}").click()
    driver.element.get_by_text(SECOND).first.wait_for(state="detached")
    assert titles(driver) == [FIRST]
    driver.element.locator(".threads input[type=file]").set_input_files(path)
    driver.element.locator(".threads").wait_for(state="hidden")
    assert driver.messages() == before


def test_a_verdict_outlives_a_reload(driver: WidgetDriver) -> None:
    driver.element.get_by_role("button", name="This helped").click()
    driver.page.wait_for_timeout(300)
    driver.page.reload()
    assert driver.open() == "ready"
    button = driver.element.get_by_role("button", name="This helped")
    button.wait_for()
    assert button.get_attribute("aria-pressed") == "true"


def test_everything_is_deleted(driver: WidgetDriver) -> None:
    show(driver)
    driver.element.get_by_role("button", name="Delete everything").click()
    driver.element.get_by_role("button", name="Delete for good").click()
    driver.element.locator(".thread-list .remark").wait_for()
    driver.page.reload()
    assert driver.open() == "ready"
    driver.page.wait_for_timeout(300)
    assert driver.messages() == []
