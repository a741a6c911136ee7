"""A question, its answer, and everything that can come between."""

from __future__ import annotations

import pytest

from py_agent.model.errors import AgentError
from tests.web.conftest import Open, page_html, tag

pytestmark = pytest.mark.browser

HOSTS = pytest.mark.parametrize("harness", ["worker", "main"])

#: Milliseconds from a click on stop until the widget must say so.
STOP_SHOWN_MS = 200

# Clicks stop, and tells after how many ms the answer's status was "stopped".
_STOP = """() => new Promise((done) => {
  const root = document.querySelector("py-agent-widget").shadowRoot;
  const answer = Array.from(root.querySelectorAll(".answer")).at(-1);
  const begin = performance.now();
  new MutationObserver(() => answer.dataset.status === "stopped" && done(performance.now() - begin))
    .observe(answer, { attributes: true });
  root.querySelector("button.stop").click();
})"""


@HOSTS
def test_an_answer_is_streamed_and_cites_its_source(tab: Open, harness: str) -> None:
    opened = tab(page_html(tail=tag(more=f' data-harness="{harness}"')))
    assert opened.driver.open() == "ready"
    answer = opened.driver.ask("cited: how long?")
    assert (answer.status, answer.text) == ("answered", "Entries live for **300 seconds**.")
    assert [source["link"] for source in answer.sources] == [f"{opened.server.url}/agent/guide/caching.html#ttl"]
    question, shown = opened.driver.messages()
    assert (question.role, question.text) == ("user", "cited: how long?")
    assert (shown.status, shown.text) == ("answered", "Entries live for 300 seconds.")
    assert shown.links == [f"{opened.server.url}/agent/guide/caching.html#ttl"]
    assert opened.driver.timings() == {"total": 7}
    assert opened.console == []


def test_python_starts_on_first_use_and_not_before(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.page.wait_for_timeout(300)
    assert opened.requested("/agent/widget.js") == opened.requested("/agent/session.js") == 0
    assert opened.driver.ask("cited: asked before it was opened").status == "answered"
    assert opened.driver.state() == "ready"
    assert opened.requested("/agent/session.js") == 1


def test_the_dialog_is_used_by_keyboard(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.element.locator("button.launcher").press("Enter")
    opened.driver.element.locator("[role=dialog]").wait_for()
    opened.page.keyboard.type("abstain: and sends")  # the focus is in the field
    opened.page.wait_for_function("document.querySelector('py-agent-widget').dataset.state === 'ready'")
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_function(
        "document.querySelector('py-agent-widget').shadowRoot.querySelector('[data-status=abstained]')"
    )
    assert opened.driver.messages()[-1].links == [f"{opened.server.url}/agent/guide/caching.html#ttl"]
    assert opened.shadow("root.activeElement.localName") == "textarea"
    assert opened.shadow("root.querySelector('textarea').value") == ""


@HOSTS
def test_stop_shows_at_once_and_drops_later_chunks(tab: Open, harness: str) -> None:
    opened = tab(page_html(tail=tag(more=f' data-harness="{harness}"')))
    opened.driver.open()
    ask = opened.driver.begin("lines:200")
    opened.page.wait_for_function(
        "document.querySelector('py-agent-widget').shadowRoot.querySelectorAll('.body li').length > 3"
    )
    assert opened.page.evaluate(_STOP) <= STOP_SHOWN_MS
    assert opened.driver.wait(ask).status == "stopped"
    text = opened.driver.messages()[-1].text
    opened.page.wait_for_timeout(300)
    assert opened.driver.messages()[-1].text == text
    assert opened.driver.ask("cited: next").status == "answered"
    assert opened.requested("/agent/session.js") == 1


def test_a_worker_that_does_not_stop_is_replaced(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    ask = opened.driver.begin("hang: for ever")
    opened.page.wait_for_timeout(300)
    assert opened.page.evaluate(_STOP) <= STOP_SHOWN_MS
    assert opened.driver.wait(ask).status == "stopped"
    # Asked while the old worker still hangs: the new one answers.
    assert opened.driver.ask("cited: next").status == "answered"
    assert opened.requested("/agent/session.js") == 2


def test_a_question_asked_again_after_stop_is_not_refused(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    opened.driver.begin("lines:100")
    opened.page.wait_for_timeout(200)
    opened.driver.stop()
    button = opened.driver.element.get_by_role("button", name="Ask again")
    button.click()
    assert [message.role for message in opened.driver.messages()] == ["user", "assistant", "user", "assistant"]


@pytest.mark.parametrize(
    ("question", "code", "text"),
    [("fail: now", "lost", "The engine was lost."), ("failed_turn: now", "overflow", "Too long."),
     ("crash: now", "worker_crashed", "stopped with an error")],
)  # fmt: skip
def test_a_failed_question_says_why_and_the_next_one_works(tab: Open, question: str, code: str, text: str) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    answer = opened.driver.ask(question)
    assert answer.status == "failed"
    assert answer.error is not None
    assert answer.error["code"] == code
    assert text in opened.shadow("root.querySelector('.answer .error').innerText")
    assert opened.shadow("root.querySelectorAll('[role=alert]:not(.launcher-note)').length") == 1
    assert opened.driver.ask("cited: next").status == "answered"


def test_an_empty_or_second_question_is_refused(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    empty = opened.driver.ask("  ")
    assert empty.error is not None
    assert empty.error["code"] == "empty_question"
    first = opened.driver.begin("lines:30")
    second = opened.driver.ask("cited: too early")
    assert second.error is not None
    assert second.error["code"] == "busy"
    assert opened.driver.wait(first).status == "answered"


def test_a_question_asked_while_it_loads_stands_once_after_the_stored_conversation(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?thread=stored&slow=300")))
    answer = opened.driver.ask("cited: early")
    assert answer.status == "answered"
    texts = [message.text for message in opened.driver.messages()]
    assert texts == [
        "What is stored?",
        "It is.",
        "cited: again",
        "This question was interrupted before its answer was complete.",
        "cited: early",
        "Entries live for 300 seconds.",
    ]


def test_an_interrupted_question_can_be_asked_again(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?thread=stored")))
    opened.driver.open()
    opened.driver.element.get_by_role("button", name="Ask again").click()
    opened.page.wait_for_function(
        "document.querySelector('py-agent-widget').shadowRoot.querySelectorAll('[data-status=answered]').length === 2"
    )
    assert [message.role for message in opened.driver.messages()][-2:] == ["user", "assistant"]


def test_a_new_conversation_is_empty(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?thread=stored")))
    opened.driver.open()
    opened.page.wait_for_timeout(100)
    opened.driver.new_conversation()
    assert opened.driver.messages() == []
    assert opened.driver.ask("cited: next").status == "answered"
    assert len(opened.driver.messages()) == 2


def test_where_nothing_is_kept_the_reader_is_told(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?kept=no")))
    opened.driver.open()
    opened.driver.element.get_by_text("This conversation is not kept").wait_for()


def test_without_a_model_it_says_so(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    assert "Search answers, no model" in opened.shadow("root.querySelector('.footnote').innerText")
    opened = tab(page_html(tail=tag("?model=Gemma")))
    opened.driver.open()
    assert "written by Gemma" in opened.shadow("root.querySelector('.footnote').innerText")


def test_while_another_tab_answers_this_one_searches_and_later_takes_over(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?boot=waiting&lead=2500")))
    assert opened.driver.open() == "waiting"
    assert "open in another tab" in opened.shadow("root.querySelector('.notice').innerText")
    refused = opened.driver.ask("cited: here")
    assert refused.error is not None
    assert refused.error["code"] == "waiting"
    field = opened.driver.element.locator("textarea")
    field.fill("caching")
    field.press("Enter")
    opened.driver.element.locator("[data-status=search]").wait_for()
    assert opened.driver.messages()[-1].links == [f"{opened.server.url}/agent/guide/caching.html#ttl"]
    opened.page.wait_for_function("document.querySelector('py-agent-widget').dataset.state === 'ready'")
    assert opened.shadow("root.querySelector('.notice').innerText") == ""
    assert opened.driver.ask("cited: now").status == "answered"


def test_a_page_that_sleeps_lets_go_of_the_session_and_takes_it_up_again(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?slow=50")))
    opened.driver.open()
    ask = opened.driver.begin("lines:100")
    opened.page.wait_for_timeout(100)
    opened.page.evaluate("document.dispatchEvent(new Event('freeze'))")
    assert opened.driver.state() == "suspended"
    assert opened.driver.wait(ask).status == "interrupted"
    opened.page.evaluate("document.dispatchEvent(new Event('resume'))")
    assert opened.driver.ask("cited: awake").status == "answered"


@pytest.mark.parametrize(("query", "code"), [("?boot=failed", "missing_index"), ("?boot=crash", "worker_crashed")])
def test_a_session_that_cannot_start_shows_why_and_a_way_to_try_again(tab: Open, query: str, code: str) -> None:
    opened = tab(page_html(tail=tag(query)))
    with pytest.raises(AgentError) as failure:
        opened.driver.open()
    assert failure.value.code == code
    assert opened.driver.state() == "failed"
    assert opened.shadow("root.querySelectorAll('.notice .error').length") == 1
    before = opened.requested("/agent/session.js")
    opened.driver.element.get_by_role("button", name="Try again").click()
    opened.page.wait_for_timeout(300)
    assert opened.requested("/agent/session.js") == before + 1


def test_a_missing_session_is_named(tab: Open) -> None:
    opened = tab(page_html(tail=tag()), missing="session.js")
    with pytest.raises(AgentError, match=r"missing on the server: .*/agent/session\.js \(HTTP 404\)") as failure:
        opened.driver.open()
    assert failure.value.code == "asset_missing"
    assert "Upload the whole folder" in failure.value.hint


def test_a_missing_widget_is_told_at_the_launcher(tab: Open) -> None:
    opened = tab(page_html(tail=tag()), missing="widget.js")
    with pytest.raises(AgentError) as failure:
        opened.driver.open()
    assert failure.value.code == "widget_missing"
    assert "/agent/widget.js" in opened.driver.element.get_by_role("alert").inner_text()


def test_a_policy_that_forbids_the_worker_is_named(tab: Open) -> None:
    policy = "script-src 'self' 'unsafe-inline'; worker-src 'none'"
    opened = tab(page_html(tail=tag()), headers={"Content-Security-Policy": policy})
    with pytest.raises(AgentError, match="worker-src") as failure:
        opened.driver.open()
    assert failure.value.code == "csp"
    assert "worker-src 'self' blob:" in failure.value.hint


def test_it_works_under_a_strict_policy_with_trusted_types(tab: Open) -> None:
    policy = (
        "default-src 'none'; script-src 'self'; worker-src blob:; connect-src 'self'; style-src 'none'; img-src data:; "
        "require-trusted-types-for 'script'; trusted-types py-agent dompurify"
    )
    opened = tab(page_html(tail=tag()), headers={"Content-Security-Policy": policy})
    opened.driver.open()
    answer = opened.driver.ask("cited: under a policy")
    assert answer.status == "answered"
    assert opened.shadow("getComputedStyle(root.querySelector('.panel')).position") == "fixed"
    # The browser reports the one try to start the worker from its own address; nothing else may be refused.
    assert all("worker" in line for line in opened.console), opened.console


def test_the_view_follows_until_the_reader_scrolls_up(tab: Open) -> None:
    opened = tab(page_html(tail=tag(), head="<style>body{height:4000px}</style>"))
    opened.page.evaluate("scrollTo(0, 300)")
    opened.driver.open()
    distance = "((list) => list.scrollHeight - list.scrollTop - list.clientHeight)(root.querySelector('.list'))"
    ask = opened.driver.begin("lines:120")
    opened.page.wait_for_function(
        "document.querySelector('py-agent-widget').shadowRoot.querySelectorAll('.body li').length > 30"
    )
    assert opened.shadow(distance) <= 4
    opened.driver.element.locator(".list").hover()
    opened.page.mouse.wheel(0, -200)
    opened.page.wait_for_timeout(100)
    top = opened.shadow("root.querySelector('.list').scrollTop")
    opened.page.wait_for_timeout(500)
    assert abs(opened.shadow("root.querySelector('.list').scrollTop") - top) <= 1
    newest = opened.driver.element.get_by_role("button", name="Go to the newest message")
    newest.click()
    opened.page.wait_for_timeout(200)
    assert opened.shadow(distance) <= 4
    assert newest.is_hidden()
    opened.page.mouse.wheel(0, 500)
    assert opened.driver.wait(ask).status == "answered"
    assert opened.page.evaluate("scrollY") == 300


def test_keys_typed_in_the_dialog_do_not_reach_the_page(tab: Open) -> None:
    script = "<script>window.keys = []; document.addEventListener('keydown', (e) => keys.push(e.key));</script>"
    opened = tab(page_html(tail=script + tag()))
    opened.driver.open()
    opened.page.keyboard.type("s/")
    assert opened.page.evaluate("keys") == []
