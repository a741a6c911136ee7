"""Sections to passages."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from py_agent.model.passage import MAX_PASSAGE_CHARS
from py_agent.site.chunk import chunk
from py_agent.site.document import Block, Document, Section
from py_agent.site.html import read_html

LONG = "A sentence of some words stands here. " * 60


def pieces(body: str) -> list[tuple[str, str, str]]:
    document = read_html(f"<main>{body}</main>")
    return [(piece.path[-1] if piece.path else "", piece.anchor, piece.fragment) for piece in chunk(document)]


def test_terms_without_anchors_stay_together_where_they_fit() -> None:
    body = "<h2 id=o>Options</h2><dl><dt>-a</dt><dd>All.</dd><dt>-b</dt><dd>Both.</dd></dl>"
    assert pieces(body) == [("Options", "o", "")]


def test_terms_without_anchors_are_passages_with_a_text_fragment_where_they_do_not_fit() -> None:
    body = f"<h2 id=o>Options</h2><dl><dt>-a</dt><dd>{LONG[:1200]}</dd><dt>-b</dt><dd>{LONG[:1200]}</dd></dl>"
    assert pieces(body) == [("-a", "o", "-a"), ("-b", "o", "-b")]


def test_terms_with_anchors_are_passages_of_their_own() -> None:
    body = "<h2 id=o>Options</h2><dl><dt id=a>-a</dt><dd>All.</dd><dt id=b>-b</dt><dd>Both.</dd></dl><p>After."
    assert pieces(body) == [("-a", "a", ""), ("-b", "b", ""), ("Options", "o", "")]


def test_a_heading_without_an_anchor_gets_a_text_fragment_but_the_pages_own_needs_none() -> None:
    assert pieces("<h1>Top</h1><p>Lead.<h2>Second</h2><p>Text.") == [("Top", "", ""), ("Second", "", "Second")]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab .\n`", min_size=1, max_size=4_000), min_size=1, max_size=4), st.booleans())
def test_no_passage_is_too_long_and_no_letter_is_lost(paragraphs: list[str], code: bool) -> None:
    blocks = [Block(text.strip("\n"), kind="code" if code else "text") for text in paragraphs if text.strip()]
    found = chunk(Document(sections=[Section("H", ("H",), "h", blocks=blocks)]))
    assert all(len(piece.text) <= MAX_PASSAGE_CHARS for piece in found)
    for letter in "ab":
        assert sum(p.text.count(letter) for p in found) == sum(block.text.count(letter) for block in blocks)
