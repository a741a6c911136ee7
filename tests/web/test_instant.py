"""Search while typing: from the index alone, whatever the assistant's state."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from py_agent.site.serve import Canned
from tests.web.conftest import Open, Tab, page_html, tag

pytestmark = pytest.mark.browser


def typed(opened: Tab, text: str) -> Locator:
    opened.driver.element.locator("button.launcher").click()
    opened.driver.element.locator(".composer textarea").press_sequentially(text)
    return opened.driver.element.locator(".instant a")


def test_pages_are_found_before_the_assistant_is_ready(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?boot=silent")))
    links = typed(opened, "how do I cach")
    expect(links).to_have_count(1)
    assert links.first.get_attribute("href") == f"{opened.server.url}/guide/caching/"
    assert links.first.inner_text().startswith("Caching")
    assert opened.console == []


def test_a_typo_and_other_pages_while_typing_on_and_nothing_when_the_field_is_empty(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    links = typed(opened, "cachign")
    expect(links).to_have_count(1)
    field = opened.driver.element.locator(".composer textarea")
    field.fill("upload")
    expect(links.first).to_contain_text("<Deploy>")
    field.fill("")
    expect(opened.driver.element.locator(".instant")).to_be_hidden()
    field.fill("zzzzqqq")
    opened.page.wait_for_timeout(300)
    expect(opened.driver.element.locator(".instant")).to_be_hidden()
    assert opened.requested("/agent/index/manifest.json") == 1


def test_what_was_found_goes_when_the_question_is_sent(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    expect(typed(opened, "caching")).to_have_count(1)
    opened.driver.element.locator(".composer textarea").press("Enter")
    expect(opened.driver.element.locator(".instant")).to_be_hidden()
    opened.driver.element.locator(".answer").wait_for()


def test_a_broken_index_is_told_to_the_owner_and_the_chat_goes_on(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.server.canned["/agent/index/manifest.json"] = Canned(200, b"<!doctype html>", "text/html")
    typed(opened, "caching")
    opened.page.wait_for_timeout(300)
    assert [line for line in opened.console if "search while typing does not work" in line]
    assert opened.driver.ask("cited: once").sources
