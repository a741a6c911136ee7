"""What an answer may do to the page: be read, be followed, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from py_agent.testing.driver import WidgetDriver
from tests.browser.widget_site import FIXTURES, Site, Visit, delta, page, tag, turn_end

pytestmark = pytest.mark.browser

ROWS: list[dict[str, Any]] = json.loads((FIXTURES / "cases" / "W01.answers.json").read_text("utf-8"))

#: Everything that W01 forbids in the elements of an answer.
INSPECT = """() => {
  const root = document.querySelector("py-agent-widget").shadowRoot;
  const found = [];
  const bad = "script,iframe,object,embed,base,meta,link,style,form,img,video,audio,math,[srcdoc]";
  for (const body of root.querySelectorAll(".answer .body, .answer .sources")) {
    if (body.querySelector(bad)) found.push(body.innerHTML);
    for (const element of body.querySelectorAll("*")) {
      for (const { name } of element.attributes) if (name.startsWith("on") || name === "id" || name === "name") found.push(element.outerHTML);
      const href = element.getAttribute("href");
      if (href !== null && !["http:", "https:", "mailto:"].includes(new URL(href, document.baseURI).protocol)) found.push(href);
    }
  }
  return { found, pwned: window.__pwned, at: location.pathname };
}"""  # noqa: E501

POKE = """() => {
  const root = document.querySelector("py-agent-widget").shadowRoot;
  addEventListener("click", (event) => event.preventDefault());
  for (const element of root.querySelectorAll(".answer *:not(button)")) {
    for (const type of ["mouseover", "mouseenter", "focus", "click", "toggle"])
      element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, composed: true }));
  }
}"""


def _play(widget: WidgetDriver, site: Site, name: str, row: dict[str, Any], stream: bool) -> Any:
    chunks = row.get("chunks") or [row.get("md") or row["answer"]]
    answer = "".join(chunks)
    sources = [
        {"passage": "p", "page": "", "anchor": "", "url": url, "link": url, "title": "T", "path": [], "quote": "q"}
        for url in row.get("sources", [])
    ]
    # Late enough for a drawing between the first half and the second.
    pieces = list(answer) if stream else []
    script: list[Any] = [[70 if at == len(pieces) // 2 else 0, delta(text)] for at, text in enumerate(pieces)]
    return widget.ask(site.play(name, [*script, [70, turn_end(answer=answer, sources=sources)]]), 20)


@pytest.mark.parametrize("stream", [False, True], ids=["complete", "streamed"])
def test_no_answer_does_anything_to_the_page(visit: Visit, site: Site, stream: bool) -> None:
    widget = visit(site.write("guide/answers.html", page(tag())))
    before = len(visit.server.requests)
    for row in ROWS:
        name = f"{row['name']}-{stream}"
        answer = _play(widget, site, name, row, stream)
        if row.get("keep"):
            assert row["keep"] in answer.text, row["name"]
        if "text" in row:
            assert answer.text == row["text"], row["name"]
        if "href" in row:
            link = widget.dialog.locator(".answer .body a").last
            assert link.get_attribute("href") == row["href"], row["name"]
            assert "noopener" in (link.get_attribute("rel") or "")
        if "sources" in row:
            assert [source["link"] for source in answer.sources] == [f"{visit.server.url}/guide/caching/"]
        seen = widget.page.evaluate(INSPECT)
        assert seen["found"] == [], row["name"]
    widget.page.evaluate(POKE)
    widget.page.wait_for_timeout(500)
    seen = widget.page.evaluate(INSPECT)
    assert (seen["found"], seen["pwned"], seen["at"]) == ([], None, "/guide/answers.html")
    asked = {f"/plays/{row['name']}-{stream}.json" for row in ROWS}
    own = {"/agent/assets/widget.js", "/agent/assets/session.js", "/docs/index.json", "/agent/py-agent.js"}
    assert {request.path for request in visit.server.requests[before:]} <= asked | own
    assert len(widget.page.context.pages) <= 2
    assert visit.problems == []


def test_a_draft_grows_is_taken_back_and_ends_as_the_answer(visit: Visit, site: Site) -> None:
    script = [
        [0, {"type": "status", "phase": "answering", "detail": ""}],
        [0, delta("First **dra")],
        [300, delta("ft**")],
        [300, {"type": "answer_reset", "reason": "no quote"}],
        [300, delta("The answer")],
        [300, turn_end(answer="The answer.")],
    ]
    widget = visit(site.write("index.html", page(tag())))
    widget.open()
    widget.wait_until_ready(20)
    element = widget.send(site.play("draft", script))
    body = element.locator(".body")
    body.get_by_text("First").wait_for()
    body.locator("strong", has_text="draft").wait_for()
    assert element.locator(".status").inner_text() == "Writing the answer…"
    body.get_by_text("The answer").wait_for()
    assert "draft" not in body.inner_text()
    element.and_(widget.dialog.locator("[data-status=answered]")).wait_for()
    assert body.inner_text() == "The answer."


def test_an_honest_not_found_shows_the_nearest_passages(visit: Visit, site: Site) -> None:
    place = {"passage": "p9", "page": "a.html", "anchor": "b", "url": "a.html#b", "title": "A page", "path": ["A page", "B"]}
    related = [{**place, "quote": "", "link": "/a.html#b"}]
    widget = visit(site.write("index.html", page(tag())))
    answer = widget.ask(site.play("no", [[0, turn_end("abstained", "This is not in these docs.", related=related)]]), 20)
    assert answer.status == "abstained"
    assert answer.sources == []
    assert [(source["title"], source["page"], source["anchor"]) for source in answer.related] == [("B", "a.html", "b")]
    assert "Not found in these docs" in widget.dialog.inner_text()


def test_text_of_html_pages_is_shown_as_it_stands(visit: Visit, site: Site) -> None:
    text = "Put <main> around it, & keep <b>this</b>: 1 < 2.\n\n<details>\nmore *words*\n</details>"
    widget = visit(site.write("index.html", page(tag())))
    answer = widget.ask(site.play("html", [[0, turn_end(answer=text)]]), 20)
    assert answer.text.startswith("Put <main> around it, & keep <b>this</b>: 1 < 2.")
    assert "<details>" in answer.text
    assert "more words" in answer.text


def test_blocks_that_have_not_changed_keep_their_elements(visit: Visit, site: Site) -> None:
    script = [[0, delta("First block.\n\nSecond")], [400, delta(" block.\n\nThird.")], [400, turn_end(answer="First block.\n\nEnd.")]]
    widget = visit(site.write("index.html", page(tag())))
    widget.open()
    widget.wait_until_ready(20)
    element = widget.send(site.play("blocks", script))
    first = element.locator(".body p").first
    first.wait_for()
    first.evaluate("node => { window.first = node }")
    element.and_(widget.dialog.locator("[data-status=answered]")).wait_for()
    assert element.locator(".body p").first.evaluate("node => node === window.first")
    assert element.locator(".body").inner_text() == "First block.\n\nEnd."


def test_the_answer_can_be_copied_as_markdown(visit: Visit, site: Site) -> None:
    widget = visit(site.write("index.html", page(tag())))
    widget.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    widget.ask(site.play("copy", [[0, turn_end(answer="Set **ttl**.")]]), 20)
    widget.dialog.get_by_role("button", name="Copy the answer").click()
    widget.dialog.get_by_text("Copied.").wait_for()
    assert widget.page.evaluate("navigator.clipboard.readText()") == "Set **ttl**."
