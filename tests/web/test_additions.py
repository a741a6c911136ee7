"""A reader who goes on writing while an answer is under way, and questions that got none."""

from __future__ import annotations

import pytest

from tests.web.conftest import Open, Tab, page_html, tag
from tests.web.test_accessibility import _LISTEN, heard

pytestmark = pytest.mark.browser

HOSTS = pytest.mark.parametrize("harness", ["worker", "main"])


@pytest.fixture
def opened(tab: Open) -> Tab:
    """An open dialog that is being listened to."""
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    opened.shadow(_LISTEN)
    return opened


def texts(opened: Tab) -> list[str]:
    return [message.text for message in opened.driver.messages()]


def add(opened: Tab, text: str) -> None:
    field = opened.driver.element.locator(".composer textarea")
    field.fill(text)
    field.press("Enter")


@HOSTS
def test_what_is_written_meanwhile_is_added_to_the_question(tab: Open, harness: str) -> None:
    opened = tab(page_html(tail=tag(more=f' data-harness="{harness}"')))
    opened.driver.open()
    opened.shadow(_LISTEN)
    ask = opened.driver.begin("lines:30")
    opened.driver.element.get_by_role("button", name="Add to the question").wait_for()
    add(opened, "in the dark")
    opened.driver.element.get_by_text("in the dark").wait_for()
    assert opened.shadow("root.querySelector('.composer textarea').value") == ""
    assert opened.driver.wait(ask).status == "answered"
    assert texts(opened)[:2] == ["lines:30", "in the dark"]
    assert [message.role for message in opened.driver.messages()] == ["user", "user", "assistant"]
    assert [entry["text"] for entry in heard(opened)].count("Added to the question.") == 1
    opened.driver.element.get_by_role("button", name="Send the question").wait_for()
    assert opened.console == []


def test_what_is_added_while_everything_loads_waits_for_its_question(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?slow=500")))
    ask = opened.driver.begin("lines:20")
    opened.page.evaluate("PyAgent.open()")
    add(opened, "in the dark")
    assert opened.driver.wait(ask).status == "answered"
    assert [message.role for message in opened.driver.messages()] == ["user", "user", "assistant"]
    assert texts(opened)[1] == "in the dark"


def test_what_comes_too_late_stands_behind_the_answer_and_can_be_asked(opened: Tab) -> None:
    ask = opened.driver.begin("late:20")
    opened.driver.element.get_by_role("button", name="Add to the question").wait_for()
    add(opened, "cited: in the dark")
    late = opened.driver.element.locator(".interrupted")
    late.wait_for()
    assert "The answer was ready before this arrived." in late.inner_text()
    now = opened.driver.element.get_by_role("button", name="Ask it now")
    assert now.is_disabled()  # one question at a time
    assert opened.driver.wait(ask).status == "answered"
    assert [message.role for message in opened.driver.messages()] == ["user", "assistant", "user", "notice"]
    now.click()
    opened.driver.element.locator("[data-status=answered]").nth(1).wait_for()
    assert [message.role for message in opened.driver.messages()] == ["user", "assistant", "user", "assistant"]
    assert texts(opened)[2] == "cited: in the dark"


def test_a_stopped_question_is_asked_again_with_what_was_added(opened: Tab) -> None:
    ask = opened.driver.begin("lines:100")
    opened.driver.element.get_by_role("button", name="Add to the question").wait_for()
    add(opened, "in the dark")
    opened.page.wait_for_timeout(200)
    opened.driver.stop()
    assert opened.driver.wait(ask).status == "stopped"
    opened.driver.element.get_by_role("button", name="Ask again").click()
    assert texts(opened)[-2].split() == ["lines:100", "in", "the", "dark"]


def test_words_for_a_question_that_was_stopped_before_it_was_sent_are_not_lost(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?slow=1500")))
    ask = opened.driver.begin("lines:20")
    opened.page.evaluate("PyAgent.open()")
    add(opened, "in the dark")
    opened.driver.stop()
    assert opened.driver.wait(ask).status == "stopped"
    assert "in the dark" in texts(opened)
    opened.driver.element.get_by_role("button", name="Ask it now").wait_for()


def test_an_interrupted_question_and_its_additions_are_asked_again_as_one(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?thread=torn")))
    opened.driver.open()
    again = opened.driver.element.get_by_role("button", name="Ask again")
    again.wait_for()
    # The question that was asked again stands there once, with its answer.
    assert texts(opened) == [
        "cited: twice",
        "It is.",
        "cited: torn",
        "in the dark",
        "This question was interrupted before its answer was complete.",
    ]
    again.press("Enter")
    opened.driver.element.locator("[data-status=answered]").nth(1).wait_for()
    shown = texts(opened)
    assert [message.role for message in opened.driver.messages()] == ["user", "assistant", "user", "assistant"]
    assert shown[2].split() == ["cited:", "torn", "in", "the", "dark"]
    assert opened.shadow("root.activeElement.localName") == "textarea"


def test_while_an_answer_is_under_way_nothing_can_be_asked_again(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?thread=stored")))
    opened.driver.open()
    again = opened.driver.element.get_by_role("button", name="Ask again")
    again.wait_for()
    ask = opened.driver.begin("lines:20")
    opened.driver.element.get_by_role("button", name="Stop the answer").wait_for()
    assert again.is_disabled()
    assert opened.driver.wait(ask).status == "answered"
    assert again.is_enabled()


def test_a_stored_question_that_comes_while_an_answer_is_under_way_waits_for_its_end(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?thread=stored&slow=300")))
    ask = opened.driver.begin("lines:30")
    opened.page.evaluate("PyAgent.open()")
    again = opened.driver.element.get_by_role("button", name="Ask again")
    again.wait_for()
    assert again.is_disabled()
    assert opened.driver.wait(ask).status == "answered"
    assert again.is_enabled()
