"""What a screen reader hears, and where the focus is."""

from __future__ import annotations

from typing import Any

import pytest

from py_agent.model.errors import AgentError
from tests.web.conftest import Open, Tab, page_html, tag

pytestmark = pytest.mark.browser

# Notes every change of text inside a live region, as a screen reader would be told; silent regions count as silent.
_LISTEN = """(() => {
  const LIVE = "[aria-live], [role=status], [role=log], [role=alert]";
  window.heard = [];
  const last = new WeakMap();
  const regionOf = (node) => (node instanceof Element ? node : node.parentElement)?.closest(LIVE);
  const note = (node) => {
    const region = regionOf(node);
    if (!region || region.getAttribute("aria-live") === "off" || region.closest("[aria-busy=true]")) return;
    const text = region.textContent.trim();
    if (!text || last.get(region) === text) return;
    last.set(region, text);
    heard.push({ role: region.getAttribute("role"), text });
  };
  new MutationObserver((records) => {
    for (const record of records) {
      for (const node of record.addedNodes) {
        note(node);
        if (node instanceof Element) node.querySelectorAll("[role=alert]").forEach(note);
      }
      if (record.type === "characterData") note(record.target);
    }
  }).observe(root, { childList: true, subtree: true, characterData: true });
})()"""


def heard(opened: Tab) -> list[dict[str, Any]]:
    """The announcements since the last call."""
    told: list[dict[str, Any]] = opened.page.evaluate("heard.splice(0)")
    return told


@pytest.fixture
def opened(tab: Open) -> Tab:
    """An open dialog that is being listened to."""
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    opened.shadow(_LISTEN)
    return opened


def test_a_turn_is_told_in_two_to_eight_announcements(opened: Tab) -> None:
    opened.driver.ask("lines:100")
    told = heard(opened)
    assert 2 <= len(told) <= 8, told
    assert {entry["role"] for entry in told} == {"status"}
    assert told[0]["text"] == "Question sent."
    assert told[-1]["text"].startswith("Answer ready. line 1 of the answer line 2 of the answer")


def test_an_error_is_told_once_as_an_alert(opened: Tab) -> None:
    opened.driver.ask("fail: now")
    alerts = [entry["text"] for entry in heard(opened) if entry["role"] == "alert"]
    assert alerts == ["The engine was lost.Ask again."]


def test_a_crash_is_told_once_as_an_alert(opened: Tab) -> None:
    opened.driver.ask("crash: now")
    assert [entry["role"] for entry in heard(opened)].count("alert") == 1


def test_a_stopped_answer_is_told_as_stopped(opened: Tab) -> None:
    opened.driver.begin("lines:100")
    opened.page.wait_for_timeout(200)
    opened.driver.stop()
    opened.page.wait_for_timeout(50)
    assert heard(opened)[-1] == {"role": "status", "text": "Stopped."}


def test_loading_a_model_is_not_a_hundred_announcements(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?boot=progress")))
    opened.page.evaluate("PyAgent.open()")
    opened.driver.element.locator("[role=dialog]").wait_for()
    opened.shadow(_LISTEN)
    opened.driver.open()
    told = heard(opened)
    assert len(told) <= 12
    assert told[-1]["text"] == "Ready for questions."


def test_everything_has_a_name(opened: Tab) -> None:
    opened.driver.ask("cited: named")
    chat = opened.driver.element
    chat.get_by_role("dialog", name="Ask Lantern").wait_for()
    chat.get_by_role("log", name="Conversation").wait_for()
    chat.get_by_role("textbox", name="Your question").wait_for()
    for name in ("Close the chat", "New conversation", "Send the question", "Copy the answer"):
        chat.get_by_role("button", name=name).wait_for()
    assert opened.shadow("Array.from(root.querySelectorAll('.author'), e => e.textContent)") == ["You", "Answer"]
    opened.driver.begin("lines:50")
    chat.get_by_role("button", name="Stop the answer").wait_for()
    assert opened.shadow("root.querySelectorAll('svg:not([aria-hidden=true])').length") == 0
    opened.driver.stop()
    opened.driver.close()
    launcher = chat.get_by_role("button", name="Ask Lantern: open the chat")
    launcher.wait_for()
    box = launcher.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert launcher.get_attribute("aria-expanded") == "false"


def test_the_focus_stays_in_the_field_through_a_turn(opened: Tab) -> None:
    field = opened.driver.element.locator("textarea")
    field.fill("cited: focus")
    field.press("Enter")
    opened.driver.element.locator("[data-status=answered]").wait_for()
    assert opened.shadow("root.activeElement.localName") == "textarea"
    opened.driver.element.locator("textarea").fill("cited: by button")
    opened.driver.element.locator("button.send").click()
    opened.driver.element.locator("[data-status=answered]").nth(1).wait_for()
    assert opened.shadow("root.activeElement.localName") == "textarea"


def test_escape_closes_and_the_focus_goes_back(tab: Open) -> None:
    script = "<script>document.querySelector('#host-button').onclick = () => PyAgent.open();</script>"
    opened = tab(page_html(tail=tag() + script))
    opened.page.locator("#host-button").press("Enter")
    opened.driver.element.locator("[role=dialog]").wait_for()
    assert opened.shadow("root.activeElement.localName") == "textarea"
    opened.page.keyboard.press("Escape")
    opened.driver.element.locator("[role=dialog]").wait_for(state="hidden")
    assert opened.page.evaluate("document.activeElement.id") == "host-button"
    opened.driver.element.locator("button.launcher").click()
    opened.page.keyboard.press("Escape")
    assert opened.shadow("root.activeElement.className").startswith("launcher")


def test_escape_belongs_to_the_input_method_while_it_composes(opened: Tab) -> None:
    fire = (
        "root.querySelector('textarea').dispatchEvent(new KeyboardEvent('keydown',"
        " { key: arg, isComposing: true, bubbles: true, composed: true, cancelable: true }))"
    )
    opened.driver.element.locator("textarea").fill("cited: not yet")
    opened.shadow(fire, "Escape")
    opened.shadow(fire, "Enter")
    assert opened.driver.element.locator("[role=dialog]").is_visible()
    assert opened.driver.messages() == []


def test_a_failure_to_start_is_told_once(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?boot=failed&slow=200")))
    opened.page.evaluate("PyAgent.open()")
    with pytest.raises(AgentError):
        opened.driver.open()
    assert opened.shadow("root.querySelectorAll('.panel [role=alert]').length") == 1
