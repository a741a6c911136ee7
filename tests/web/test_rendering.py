"""Answers are data: whatever they hold, nothing runs, nothing is requested, and the text stays readable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.conftest import ROOT, Open, Tab, page_html, tag

pytestmark = pytest.mark.browser

ANSWERS: list[dict[str, Any]] = json.loads(
    (ROOT / "tests" / "fixtures" / "web" / "unsafe_answers.json").read_text(encoding="utf-8")
)

# Everything in the last message that must not be there.
_FORBIDDEN = """(() => {
  const message = Array.from(root.querySelectorAll(".answer")).at(-1);
  const banned = "script, iframe, object, embed, base, meta, link, style, form, img, math".split(", ");
  const found = [];
  for (const element of message.querySelectorAll("*")) {
    if (banned.includes(element.localName)) found.push(element.localName);
    for (const { name } of element.attributes) {
      if (/^on|^(srcdoc|src|id|name|style|action)$/.test(name)) found.push(name);
    }
    const safe = ["http:", "https:", "mailto:"].includes(element.protocol);
    if (element.matches("a[href]") && !safe) found.push(element.href);
    if (element.namespaceURI.endsWith("svg") && !element.closest("button")) found.push("svg");
  }
  return found;
})()"""

# Clicks, hovers and focuses everything in the last answer. Links to pages must not really be followed here.
_TOUCH = """(() => {
  const message = Array.from(root.querySelectorAll(".answer")).at(-1);
  const stay = (event) => /^(https?|mailto):/.test(event.target.closest?.("a")?.href ?? "") && event.preventDefault();
  message.addEventListener("click", stay);
  for (const element of message.querySelectorAll("*:not(button, button *)")) {
    for (const name of ["mouseover", "mouseenter", "pointerover", "focus", "toggle"]) {
      element.dispatchEvent(new Event(name, { bubbles: true }));
    }
    element.focus?.();
    element.click?.();
  }
})()"""


class Reader:
    """One page with an open dialog, for all answers of this module."""

    def __init__(self, opened: Tab) -> None:
        self.opened = opened
        self.alarms: list[str] = []
        opened.page.on("dialog", lambda dialog: (self.alarms.append("dialog"), dialog.dismiss()))
        opened.page.on("popup", lambda popup: (self.alarms.append("popup"), popup.close()))
        opened.driver.open()

    def read(self, question: str) -> None:
        """Gets one answer; touches all of it; asserts that nothing came of that."""
        page = self.opened.page
        requests = len(self.opened.server.requests)
        address = page.url
        assert self.opened.driver.ask(question).status == "answered"
        assert self.opened.shadow(_FORBIDDEN) == []
        self.opened.shadow(_TOUCH)
        page.wait_for_timeout(60)
        assert page.evaluate("window.__pwned") is None
        assert page.url == address
        assert self.alarms == []
        assert len(self.opened.server.requests) == requests
        assert self.opened.console == []

    @property
    def text(self) -> str:
        """The last answer as it is seen."""
        return self.opened.driver.messages()[-1].text


@pytest.fixture
def reader(tab: Open) -> Iterator[Reader]:
    yield Reader(tab(page_html(tail=tag())))


def test_unsafe_answers_do_nothing_and_keep_their_text(reader: Reader) -> None:
    for case in ANSWERS:
        markdown = case.get("md") or "".join(case.get("chunks", ()))
        for how in ("markdown", "stream") if markdown else ():
            reader.read(f"{how}:{markdown}")
            if case.get("keep"):
                assert case["keep"] in reader.text, case["name"]


def test_harmless_answers_come_out_as_they_were_meant(reader: Reader) -> None:
    link = "Array.from(root.querySelectorAll('.answer')).at(-1).querySelector('.body a').getAttribute('href')"
    for case in ANSWERS:
        if not case["name"].startswith("ok_"):
            continue
        reader.read(f"markdown:{case['md']}")
        if "href" in case:
            assert reader.opened.shadow(link) == case["href"], case["name"]
        else:
            assert reader.text == case["text"], case["name"]


def test_sources_with_unsafe_addresses_are_left_out(reader: Reader) -> None:
    (case,) = [case for case in ANSWERS if case["name"] == "unsafe_source"]
    reader.read(f"sources:{json.dumps(case['sources'])}")
    assert reader.opened.driver.messages()[-1].links == [f"{reader.opened.server.url}/guide/caching/"]
    assert reader.text == "Fine."


def test_an_answer_makes_the_browser_request_nothing(reader: Reader) -> None:
    asked: list[str] = []
    reader.opened.page.on("request", lambda request: asked.append(request.url))
    reader.read(
        "markdown:![a picture](/secret.png?q=1) ![](https://collect.example/x.png) <video src=/v.mp4></video>"
        " <link rel=prefetch href=/p> [text](https://collect.example/)"
    )
    assert asked == []
    assert "a picture" in reader.text


def test_markdown_reads_as_markdown(reader: Reader) -> None:
    table = "| a | b |\n|---|---|\n| c | **d** |"
    blocks = ["# Head", "1. one\n2. `two`", table, "> quoted", "```py\nx = 1\n```", "[r]", "[r]: /later"]
    reader.read("stream:" + "\n\n".join(blocks))
    elements = ".body :is(h1, ol > li, li > code, td > strong, blockquote, pre > code, a)"
    seen = reader.opened.shadow("Array.from(root.querySelectorAll(arg), (element) => element.localName)", elements)
    assert seen == ["h1", "li", "li", "code", "strong", "blockquote", "code", "a"]


def test_blocks_that_are_complete_keep_their_elements(reader: Reader) -> None:
    """So that a selection in them survives the rest of the stream."""
    page = reader.opened.page
    ask = reader.opened.driver.begin("lines:3")
    reader.opened.driver.wait(ask)
    kept = page.evaluate(
        """async () => {
          const { MarkdownView } = await import("/agent/markdown.js");
          const target = document.createElement("div");
          const view = new MarkdownView(target);
          view.render("First.\\n\\nSecond", false);
          const [first, second] = target.children;
          view.render("First.\\n\\nSecond grows.\\n\\nThird", false);
          return [target.children[0] === first, target.children[1] === second, target.innerText ?? target.textContent];
        }"""
    )
    assert kept[:2] == [True, False]
