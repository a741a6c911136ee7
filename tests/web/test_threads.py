"""The reader's conversations: found, opened, saved, read back, deleted, and judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.web.conftest import Open, Tab, page_html, tag
from tests.web.test_accessibility import _LISTEN, heard

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(tab: Open) -> Tab:
    """An open dialog that shows the list of conversations and is being listened to."""
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    opened.shadow(_LISTEN)
    show(opened)
    return opened


def show(opened: Tab) -> None:
    button(opened, "Conversations").click()
    opened.driver.element.locator(".thread-list li").first.wait_for()


def button(opened: Tab, name: str) -> Any:
    return opened.driver.element.get_by_role("button", name=name, exact=True)


def titles(opened: Tab) -> list[str]:
    found: list[str] = opened.shadow("Array.from(root.querySelectorAll('.thread-title'), (e) => e.textContent)")
    return found


def texts(opened: Tab) -> list[str]:
    return [message.text for message in opened.driver.messages()]


def test_conversations_are_listed_page_by_page_and_opened(opened: Tab) -> None:
    assert titles(opened) == ["How do I dim it?", "Conversation without a question"]
    assert heard(opened)[-1]["text"] == "2 conversations."
    button(opened, "Show more").click()
    opened.driver.element.get_by_text("Where is the switch?").wait_for()
    assert opened.shadow("root.activeElement.closest('li').dataset.thread") == "t4"
    assert opened.driver.element.get_by_role("button", name="Show more").count() == 0
    opened.page.keyboard.press("Enter")
    opened.driver.element.locator(".answer").wait_for()
    assert texts(opened) == ["Where is the switch?", "So."]
    assert opened.shadow("root.activeElement === root.querySelector('.composer textarea')")
    show(opened)
    button(opened, "Show more").click()
    opened.driver.element.locator("[data-thread=t4] .thread[aria-current=true]").wait_for()


def test_conversations_in_which_nothing_was_said_are_not_listed(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?left=two")))
    opened.driver.open()
    show(opened)
    # The first page holds nothing else: the list begins with the second.
    assert titles(opened) == ["How do I dim it?", "Conversation without a question"]


def test_words_are_found_in_conversations(opened: Tab) -> None:
    opened.page.keyboard.type("switch")  # the focus is in the search field
    opened.driver.element.locator("[data-thread=t4]").wait_for()
    assert titles(opened) == ["Where is the switch?"]
    assert opened.shadow("root.querySelector('.snippet mark').textContent") == "switch"
    opened.page.keyboard.type(" nowhere")
    opened.driver.element.locator(".thread-list .remark").wait_for()
    assert heard(opened)[-1]["text"] == "No conversations."


def test_escape_goes_back_to_the_messages_and_not_out_of_the_dialog(opened: Tab) -> None:
    opened.page.keyboard.press("Escape")
    assert opened.driver.element.locator(".threads").is_hidden()
    assert opened.driver.element.locator("[role=dialog]").is_visible()
    assert opened.shadow("root.activeElement === root.querySelector('.composer textarea')")
    opened.page.keyboard.press("Escape")
    assert opened.driver.element.locator("[role=dialog]").is_hidden()


def test_nothing_is_deleted_without_a_second_word(opened: Tab) -> None:
    button(opened, "Delete: How do I dim it?").click()
    assert opened.shadow("root.activeElement.textContent") == "Keep"
    opened.page.keyboard.press("Enter")
    assert titles(opened)[0] == "How do I dim it?"
    button(opened, "Delete: How do I dim it?").click()
    button(opened, "Delete for good: How do I dim it?").click()
    opened.driver.element.locator("[data-thread=t2]").wait_for(state="detached")
    assert titles(opened) == ["Conversation without a question", "Where is the switch?"]
    assert "Deleted." in [entry["text"] for entry in heard(opened)]


def test_everything_is_deleted_and_the_dialog_is_empty(opened: Tab) -> None:
    opened.page.keyboard.press("Escape")
    opened.driver.ask("cited: gone")
    show(opened)
    button(opened, "Delete everything").click()
    button(opened, "Delete for good").click()
    opened.driver.element.locator(".thread-list .remark").wait_for()
    button(opened, "Back").click()
    assert opened.driver.messages() == []
    assert opened.driver.element.locator(".greeting").is_visible()


def test_what_is_refused_says_why(opened: Tab) -> None:
    ask = opened.driver.begin("lines:60")
    opened.page.wait_for_timeout(200)
    button(opened, "Delete: How do I dim it?").click()
    button(opened, "Delete for good: How do I dim it?").click()
    alert = opened.driver.element.locator(".threads [role=alert]")
    alert.wait_for()
    assert "still being answered" in alert.inner_text()
    assert titles(opened)[0] == "How do I dim it?"
    opened.page.keyboard.press("Escape")
    opened.driver.stop()
    assert opened.driver.wait(ask).status == "stopped"


def test_a_conversation_is_saved_as_a_file(opened: Tab) -> None:
    with opened.page.expect_download() as download:
        button(opened, "Save as file: How do I dim it?").click()
    assert download.value.suggested_filename == "conversation-x.json"
    assert json.loads(Path(download.value.path()).read_text()) == {"thread": "t2"}


def test_a_saved_file_is_opened_and_another_file_is_refused(opened: Tab, tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong.json", tmp_path / "right.json"
    wrong.write_text("no conversation")
    right.write_text('{"title": "<img src=x onerror=window.__pwned=1>"}')
    with opened.page.expect_file_chooser() as chooser:
        button(opened, "Open a saved file").click()
    chooser.value.set_files(wrong)
    opened.driver.element.locator(".threads [role=alert]").wait_for()
    opened.driver.element.locator(".threads input[type=file]").set_input_files(right)
    opened.driver.element.locator(".answer").wait_for()
    assert texts(opened) == ["<img src=x onerror=window.__pwned=1>", "So."]
    show(opened)
    assert titles(opened)[0] == "<img src=x onerror=window.__pwned=1>"
    assert opened.page.evaluate("window.__pwned") is None


def test_opening_another_conversation_stops_the_answer_under_way(opened: Tab) -> None:
    ask = opened.driver.begin("lines:100")
    opened.page.wait_for_timeout(200)
    opened.driver.element.locator("[data-thread=t2] .thread").click()
    assert opened.driver.wait(ask).status == "stopped"
    opened.page.wait_for_timeout(100)
    assert texts(opened) == ["How do I dim it?", "So."]


def test_an_answer_is_judged_and_the_verdict_is_shown_again(opened: Tab) -> None:
    opened.driver.element.locator("[data-thread=t2] .thread").click()
    down = button(opened, "This did not help")
    down.click()
    assert down.get_attribute("aria-pressed") == "true"
    assert button(opened, "This helped").get_attribute("aria-pressed") == "false"
    show(opened)
    opened.driver.element.locator("[data-thread=t2] .thread").click()
    assert down.get_attribute("aria-pressed") == "true"
    down.click()
    assert down.get_attribute("aria-pressed") == "false"
    opened.driver.ask("cited: and a new answer")
    assert opened.driver.element.get_by_role("button", name="This helped").count() == 2


def test_a_verdict_that_is_not_kept_does_not_look_kept(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?unkept=yes")))
    opened.driver.open()
    opened.driver.ask("cited: judged")
    up = button(opened, "This helped")
    up.click()
    opened.driver.element.get_by_text("The disk is full.").wait_for()
    assert up.get_attribute("aria-pressed") == "false"


def test_a_tab_that_waits_for_another_one_has_no_list(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?boot=waiting")))
    assert opened.driver.open() == "waiting"
    assert opened.driver.element.locator("button.conversations").is_hidden()
