"""What a turn asks its reader: shown, told, answered, and never answered by accident."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.web.conftest import Open, Tab, page_html, tag
from tests.web.test_accessibility import _LISTEN, heard

pytestmark = pytest.mark.browser

HOSTS = pytest.mark.parametrize("harness", ["worker", "main"])

#: Milliseconds that buttons take nothing after they came into sight (web/gate.js), and a little more.
ARMED_MS = 700

OUT_OF_SIGHT = """((box) => {
  const outer = root.querySelector('.panel').getBoundingClientRect();
  const seen = '.gate .hands button, .gate .detail, .composer textarea';
  return Array.from(root.querySelectorAll(seen), (e) => e.getBoundingClientRect())
    .filter((r) => r.height < 20 || r.top < outer.top || r.bottom > outer.bottom || r.right > outer.right).length;
})()"""


@pytest.fixture
def opened(tab: Open) -> Tab:
    """An open dialog that is being listened to."""
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    opened.shadow(_LISTEN)
    return opened


def asked(opened: Tab, **request: Any) -> str:
    """Asks something that makes the turn ask back, and waits until that is shown."""
    ask = opened.driver.begin("gate:" + json.dumps(request))
    opened.driver.element.locator(".gate").wait_for()
    return ask


def sent(opened: Tab, text: str) -> None:
    """As ``asked``, through the question field, which keeps the focus."""
    field = opened.driver.element.locator("textarea").last
    field.fill(text)
    field.press("Enter")
    opened.driver.element.locator(".gate").wait_for()


def button(opened: Tab, name: str) -> Any:
    return opened.driver.element.get_by_role("button", name=name, exact=True)


@HOSTS
@pytest.mark.parametrize(
    ("name", "value", "said"), [("Allow", "true", "allowed"), ("Don't allow", "false", "not allow")]
)
def test_the_reader_allows_or_does_not(tab: Open, harness: str, name: str, value: str, said: str) -> None:
    opened = tab(page_html(tail=tag(more=f' data-harness="{harness}"')))
    opened.driver.open()
    ask = asked(opened, text="Open this page?", detail="guide/caching.html")
    gate = opened.driver.element.get_by_role("group", name="The assistant asks for your permission")
    assert "Open this page?" in gate.inner_text()
    assert "guide/caching.html" in gate.inner_text()
    assert opened.shadow("root.querySelector('.answer .status').textContent") == "Waiting for you…"
    button(opened, name).click()
    assert opened.driver.wait(ask).text == f"It is resolved: {value}."
    question, decision, answer = opened.driver.messages()
    assert (question.role, decision.role, answer.role) == ("user", "notice", "assistant")
    assert said in opened.shadow("root.querySelector('.decision .outcome').textContent")
    assert opened.driver.element.locator(".gate").count() == 0
    assert opened.console == []


def test_the_reader_takes_one_of_the_choices(opened: Tab) -> None:
    ask = asked(opened, kind="ask", text="Which version?", choices=["1.0", "<b>2.0</b>"])
    button(opened, "<b>2.0</b>").click()
    assert opened.driver.wait(ask).text == "It is resolved: <b>2.0</b>."
    assert opened.shadow("root.querySelector('.decision .outcome').textContent") == "You answered: <b>2.0</b>"


def test_the_reader_writes_an_answer_by_keyboard_alone(opened: Tab) -> None:
    sent(opened, 'gate:{"kind":"ask","text":"Which system?"}')
    assert opened.shadow("root.activeElement.getAttribute('aria-label')") == "Which system?"
    opened.page.keyboard.press("Enter")  # nothing is written yet
    opened.page.keyboard.type("Debian 13")
    opened.page.wait_for_timeout(ARMED_MS)
    opened.page.keyboard.press("Enter")
    opened.driver.element.locator("[data-status=answered]").wait_for()
    assert opened.driver.messages()[-1].text == "It is resolved: Debian 13."
    assert opened.shadow("root.activeElement === root.querySelector('.composer textarea')")


def test_the_reader_allows_by_keyboard_alone(opened: Tab) -> None:
    sent(opened, 'gate:{"text":"Open this page?"}')
    assert opened.shadow("root.activeElement.className") == "gate"
    opened.page.wait_for_timeout(ARMED_MS)
    opened.page.keyboard.press("Tab")
    assert opened.shadow("root.activeElement.textContent") == "Don't allow"
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    opened.driver.element.locator("[data-status=answered]").wait_for()
    assert opened.driver.messages()[-1].text == "It is resolved: true."
    assert opened.shadow("root.activeElement.localName") == "textarea"


def test_the_focus_stays_in_the_dialog_while_a_decision_is_on_its_way(opened: Tab) -> None:
    sent(opened, 'gate:{"text":"Open this page?"}')
    opened.page.wait_for_timeout(ARMED_MS)
    button(opened, "Allow").focus()
    # As long as the button is grey, browsers take the focus from it at the next frame.
    seen = opened.page.evaluate(
        """async () => {
          const root = document.querySelector('py-agent-widget').shadowRoot;
          const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
          root.activeElement.click();
          const first = root.activeElement?.className;
          for (let at = 0; at < 10; at += 1) await frame();
          return first;
        }"""
    )
    assert seen == "gate"
    opened.driver.element.locator("[data-status=answered]").wait_for()
    assert opened.shadow("root.activeElement.localName") == "textarea"


def test_a_reader_who_skips_is_not_waited_for(opened: Tab) -> None:
    ask = asked(opened, kind="ask", text="Which system?")
    button(opened, "Skip").click()
    assert opened.driver.wait(ask).text == "It is timeout: null."
    assert opened.shadow("root.querySelector('.decision .outcome').textContent") == "You skipped it."


def test_an_answer_that_is_refused_says_why_and_can_be_given_again(opened: Tab) -> None:
    ask = asked(opened, kind="ask", text="Which system?")
    field = opened.driver.element.locator(".gate textarea")
    field.fill("wrong")
    button(opened, "Answer").click()
    assert "does not fit" in opened.driver.element.locator(".gate [role=alert]").inner_text()
    field.fill("right")
    button(opened, "Answer").click()
    assert opened.driver.wait(ask).text == "It is resolved: right."


def test_without_an_answer_the_time_runs_out_and_the_turn_goes_on(opened: Tab) -> None:
    ask = asked(opened, text="Open this page?", timeout_s=1.5)
    assert opened.driver.element.get_by_role("timer").inner_text() == "0:02 left"
    assert opened.driver.wait(ask).text == "It is timeout: null."
    assert "no answer in time" in opened.shadow("root.querySelector('.decision .outcome').textContent")


def test_what_is_asked_is_told_once_where_the_focus_does_not_go_there(opened: Tab) -> None:
    opened.page.locator("#host-input").focus()
    asked(opened, kind="ask", text="Which version?", choices=["one", "two"], timeout_s=22)
    opened.page.wait_for_timeout(1_200)
    told = [entry["text"] for entry in heard(opened)]
    assert [text for text in told if "Which version?" in text] == ["The assistant asks you: Which version?. one. two"]
    assert opened.page.evaluate("document.activeElement.id") == "host-input"
    opened.page.wait_for_timeout(1_500)
    # The clock itself is silent; that the time is short is told once.
    assert [entry["text"] for entry in heard(opened)] == ["20 seconds left to answer."]


def test_where_the_focus_goes_it_names_and_describes_what_is_asked(opened: Tab) -> None:
    sent(opened, 'gate:{"text":"Open this page?","detail":"a.html"}')
    assert not [entry for entry in heard(opened) if "Open this page?" in entry["text"]]
    gate = opened.shadow(
        "['labelledby', 'describedby'].map((name) => root.activeElement.getAttribute(`aria-${name}`).split(' ')"
        ".map((id) => root.getElementById(id).textContent).join(' '))"
    )
    assert gate == ["The assistant asks for your permission", "Open this page? a.html"]


def test_a_reader_who_is_writing_is_left_alone_and_approves_nothing(opened: Tab) -> None:
    field = opened.driver.element.locator(".composer textarea")
    field.focus()
    opened.page.keyboard.type("I was about to")
    asked(opened, text="Open this page?")
    opened.page.keyboard.type(" add this ")
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_timeout(ARMED_MS)
    assert opened.driver.element.locator(".gate").is_visible()
    assert "I was about to add this" in [message.text for message in opened.driver.messages()]
    assert opened.shadow("root.activeElement === root.querySelector('.composer textarea')")


def test_a_click_that_was_meant_for_something_else_decides_nothing(opened: Tab) -> None:
    # The same click the moment it appears, and again the moment the dialog is opened over it.
    opened.shadow(
        "new MutationObserver((_, observer) => { const buttons = root.querySelectorAll('.gate button');"
        " buttons.forEach((b) => b.click()); window.clicked = buttons.length; if (clicked) observer.disconnect(); })"
        ".observe(root, { childList: true, subtree: true })"
    )
    ask = asked(opened, text="Open this page?")
    opened.page.wait_for_timeout(ARMED_MS)
    assert opened.page.evaluate("clicked") == 2
    opened.driver.close()
    opened.page.evaluate("PyAgent.open()")
    opened.shadow("root.querySelectorAll('.gate button').forEach((b) => b.click())")
    assert opened.driver.element.locator(".gate").is_visible()
    button(opened, "Allow").click()
    assert opened.driver.wait(ask).text == "It is resolved: true."


_COUNT_DECISIONS = """() => {
  window.decisions = [];
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message) {
    if (message.type === "decide") decisions.push(message.value);
    return post.apply(this, arguments);
  };
}"""

_ENTER_TWICE = """[1, 2].forEach(() => root.querySelector('.gate textarea').dispatchEvent(
  new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, composed: true, cancelable: true })))"""


def test_two_clicks_are_one_decision(opened: Tab) -> None:
    opened.page.evaluate(_COUNT_DECISIONS)
    ask = asked(opened, text="Open this page?")
    opened.page.wait_for_timeout(ARMED_MS)
    opened.shadow("root.querySelectorAll('.gate button').forEach((b) => b.click())")
    assert opened.driver.wait(ask).text == "It is resolved: false."
    assert opened.page.evaluate("decisions") == [False]


def test_enter_pressed_twice_is_one_answer(opened: Tab) -> None:
    opened.page.evaluate(_COUNT_DECISIONS)
    ask = asked(opened, kind="ask", text="Which system?")
    opened.driver.element.locator(".gate textarea").fill("Debian")
    opened.driver.element.get_by_role("button", name="Answer", exact=True).click(trial=True)  # waits until it counts
    opened.shadow(_ENTER_TWICE)
    assert opened.driver.wait(ask).text == "It is resolved: Debian."
    assert opened.page.evaluate("decisions") == ["Debian"]


@pytest.mark.parametrize("how", ["stop", "freeze", "fresh"])
def test_nothing_stays_open_when_the_turn_ends(opened: Tab, how: str) -> None:
    ask = asked(opened, text="Open this page?")
    if how == "stop":
        opened.driver.stop()
    elif how == "fresh":
        opened.driver.element.locator("button.fresh").click()
    else:
        opened.page.evaluate("document.dispatchEvent(new Event('freeze'))")
    assert opened.driver.wait(ask).status in ("stopped", "interrupted")
    assert opened.driver.element.locator(".gate").count() == 0
    if how == "freeze":
        opened.page.evaluate("document.dispatchEvent(new Event('resume'))")
    assert opened.driver.ask("cited: next").status == "answered"


def test_a_closed_dialog_says_at_the_launcher_that_something_is_asked(opened: Tab) -> None:
    note = opened.driver.element.locator(".launcher-note")
    opened.driver.close()
    ask = opened.driver.begin('gate:{"text":"Open this page?"}')
    note.wait_for()
    assert note.get_attribute("role") == "alert"
    assert "asks you something" in note.inner_text()
    opened.driver.open()
    assert note.is_hidden()
    opened.driver.close()
    assert note.is_visible()
    opened.driver.open()
    button(opened, "Allow").click()
    assert opened.driver.wait(ask).status == "answered"
    assert note.is_hidden()


HOSTILE = [
    '<img src=x onerror="window.__pwned=1"><script>window.__pwned=1</script>',
    "[link](javascript:window.__pwned=1) **bold**",
    "</p></section><button class='allow'>Allow</button>",
    "word " * 3_000,
    "x" * 5_000,
    "\n" * 500 + "below",
    "a" + "\u0301" * 900,
]


@pytest.mark.parametrize("text", HOSTILE, ids=["html", "markdown", "buttons", "long", "unbroken", "lines", "marks"])
@pytest.mark.parametrize("kind", ["approve", "ask"])
def test_hostile_words_stay_words_and_leave_the_buttons_in_sight(opened: Tab, text: str, kind: str) -> None:
    choices = [text[:300], "no"] if kind == "ask" else []
    asked(opened, kind=kind, text=text, detail=text, choices=choices)
    assert opened.page.evaluate("window.__pwned") is None
    assert opened.shadow("root.querySelectorAll('.gate .words *').length") == 0
    assert opened.shadow("root.getElementById('gate-text').textContent").startswith(text[:1_900])
    assert opened.shadow("root.querySelectorAll('.gate .hands button').length") == (2 if kind == "approve" else 3)
    if kind == "approve":
        assert opened.shadow(OUT_OF_SIGHT) == 0
    if len(text) > 2_000:
        assert f"({len(text) - 2_000} more characters are not shown)" in opened.shadow(
            "root.getElementById('gate-text').textContent"
        )


def test_what_would_be_done_shows_the_characters_that_hide(opened: Tab) -> None:
    asked(opened, text="Open \u202ethis\u202c page?", detail="safe\u200b.html\u202elmth.live")
    assert opened.shadow("root.getElementById('gate-text').textContent") == "Open [U+202E]this[U+202C] page?"
    assert opened.shadow("root.getElementById('gate-detail').textContent") == "safe[U+200B].html[U+202E]lmth.live"


def test_on_a_small_screen_the_buttons_are_reached(opened: Tab) -> None:
    opened.page.set_viewport_size({"width": 320, "height": 480})
    ask = asked(opened, text="word " * 500, detail="word " * 500)
    assert opened.shadow(OUT_OF_SIGHT) == 0
    assert opened.shadow("root.querySelector('.gate .words').tabIndex") == 0
    assert opened.shadow("root.querySelector('.list').clientHeight") >= 60
    button(opened, "Allow").click()
    assert opened.driver.wait(ask).status == "answered"


def test_a_page_that_the_reader_agreed_to_see_opens_once_the_answer_is_there(opened: Tab) -> None:
    # An address without a scheme is of the index's root, as the session makes it: here the server's.
    with opened.page.expect_navigation(url="**/second/index.html"):
        opened.driver.begin("go:../second/index.html|The second page")
    assert opened.page.url.endswith("/second/index.html")


def test_the_way_to_that_page_is_left_where_the_turn_fails(opened: Tab) -> None:
    opened.driver.ask("go_fail:../second/index.html|The second page")
    link = opened.driver.element.get_by_role("link", name="The second page")
    assert link.get_attribute("href") == f"{opened.server.url}/second/index.html"
    assert opened.page.url == opened.server.url + "/"


def test_a_page_with_an_unsafe_address_is_not_opened(opened: Tab) -> None:
    assert opened.driver.ask("go:javascript:window.__pwned=1|Trust me").status == "answered"
    assert opened.page.evaluate("window.__pwned") is None
    assert opened.driver.element.get_by_role("link", name="Trust me").count() == 0
