"""A model behind an endpoint, asked from the page: through the browser's fetch, named before the first question."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page

from py_agent.site.door.demo import script_tag
from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium
from tests import sse_server as sse

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    with open_chromium() as context:
        yield context


def call(name: str, **arguments: object) -> sse.Answer:
    function = {"index": 0, "function": {"name": name, "arguments": json.dumps(arguments)}}
    return sse.raw((sse.event({"tool_calls": [function]}) + sse.event({}, "tool_calls")).encode(), 16)


def open_page(browser: BrowserContext, docs_server: SiteServer, server: sse.SseServer) -> Page:
    page = browser.new_page()
    page.goto(docs_server.url)
    tag = script_tag("Ask").replace("<script ", f'<script data-engine="openai" data-base-url="{server.url}" ')
    page.evaluate(
        """(html) => { const holder = document.createElement("template"); holder.innerHTML = html;
           const old = holder.content.querySelector("script"); const tag = document.createElement("script");
           for (const {name, value} of old.attributes) tag.setAttribute(name, value); document.body.append(tag); }""",
        tag,
    )
    page.wait_for_function("window.PyAgent")
    page.evaluate("window.PyAgent.open()")
    return page


def test_a_remote_model_is_named_first_and_answers_with_a_checked_source(
    browser: BrowserContext, docs_server: SiteServer
) -> None:
    answers = [
        call("make_plan", answer_kind="doc_cited", tools_to_use=["search_docs"], answer_scope="brief"),
        call("search_docs", query="turn on the light"),
        call("artifact_cat", call_id="c2"),
        call(
            "provide_answer",
            answer="With `lantern on`.",
            sources=[{"passage": "p4", "quote": "Turn on the light with lantern on."}],
        ),
    ]
    with sse.SseServer(*answers) as server:
        page = open_page(browser, docs_server, server)
        host = server.url.split("/")[2]
        note = page.locator("py-agent-widget .footnote")
        note.wait_for()
        assert host in note.inner_text()
        assert "leave this device" in note.inner_text()
        assert server.asked == []
        page.wait_for_function("document.querySelector('py-agent-widget').dataset.state === 'ready'", timeout=30_000)
        assert "gemma-3-270m" in note.inner_text()
        assert host in note.inner_text()
        answer = page.evaluate("window.PyAgent.ask('How do I turn on the light?')")
        page.close()
    asked = [request["messages"][1]["content"] for request in server.asked]
    assert all("How do I turn on the light?" in text for text in asked)
    assert all("cookie" not in headers and "referer" not in headers for headers in server.headers)
    assert answer["status"] == "answered", answer
    assert "lantern on" in answer["answer"]


def test_a_server_that_is_gone_is_told_with_its_name(browser: BrowserContext, docs_server: SiteServer) -> None:
    with sse.SseServer(sse.said("x")) as server:
        url = server.url
    page = open_page(browser, docs_server, server)
    page.wait_for_function("document.querySelector('py-agent-widget').dataset.state === 'failed'", timeout=30_000)
    text = page.locator("py-agent-widget .panel, py-agent-widget dialog").first.inner_text()
    assert url.split("/")[2] in text
    page.close()
