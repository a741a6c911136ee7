from __future__ import annotations

import pytest

from py_agent.artifacts.readers import artifact_cat
from py_agent.artifacts.shelf import Shelf
from py_agent.artifacts.spooled import MAX_LINE_CHARS, SpooledArtifact
from py_agent.model.tool import Span, ToolError, ToolResult
from py_agent.prompt.tokens import estimate_tokens
from py_agent.storage.spool import MemorySpool
from py_agent.tools.listing import list_passages
from tests.harness import passage


def shelf_of(spool: MemorySpool, **limits: int) -> Shelf:
    limits = {"inline_tokens": 50, "reader_tokens": 120, **limits}
    return Shelf(spool, "turns/t/", count=estimate_tokens, nonce=lambda: "0a1b2c3d", **limits)


async def test_a_handle_costs_the_same_whatever_the_result() -> None:
    costs = []
    for lines in (100, 100_000):
        shelf = shelf_of(MemorySpool())
        shown = await shelf.take("c1", "search_docs", ToolResult(text="some words on a line\n" * lines, summary="rows"))
        assert shown.spool_key == "turns/t/c1"
        costs.append(estimate_tokens(shown.text))
    assert costs[1] - costs[0] < 10
    assert costs[1] < 80


async def test_a_small_result_is_inline_and_counts_as_read() -> None:
    shelf = shelf_of(MemorySpool())
    text, spans = list_passages("1 passage", [passage("p1", "Short.")])
    shown = await shelf.take("c1", "search_docs", ToolResult(text=text, spans=spans, retrieved=("p1",)))
    assert shown.spool_key is None
    assert "Short." in shown.text
    assert shelf.unread == ()
    assert shelf.ledger.shown == ("p1",)


async def test_pages_are_bounded_and_together_they_are_the_whole_text() -> None:
    text = "\n".join(f"line {number} " + "word " * (number % 40) for number in range(300)) + "\n" + "x" * 9_000
    artifact = await SpooledArtifact.write(MemorySpool(), "k", text)
    start, lines = 0, []
    while start < artifact.lines:
        page = await artifact.page(start, max_tokens=200, count=estimate_tokens)
        assert page.end > start
        assert estimate_tokens(page.text) <= 200 or page.end == start + 1
        assert all(len(line) <= MAX_LINE_CHARS for line in page.text.split("\n"))
        lines += page.text.split("\n")
        start = page.end
    assert "".join(lines) == text.replace("\n", "")


async def test_only_passages_whose_text_was_shown_count_as_read() -> None:
    spool = MemorySpool()
    shelf = shelf_of(spool, reader_tokens=120)
    passages = [passage(f"p{number}", f"Passage {number}. " * 20) for number in range(4)]
    text, spans = list_passages("4 passages", passages)
    await shelf.take("c1", "search_docs", ToolResult(text=text, spans=spans, retrieved=tuple(p.id for p in passages)))
    assert shelf.unread == ("c1",)
    assert shelf.ledger.shown == ()
    shown = await shelf.read("c1", 1)
    assert shelf.unread == ()
    assert shelf.ledger.shown == ("p0",)
    assert "more lines: artifact_cat with call_id c1, start" in shown
    assert shelf.ledger.retrieved == ("p0", "p1", "p2", "p3")


async def test_a_page_inside_a_passage_says_whose_text_goes_on() -> None:
    shelf = shelf_of(MemorySpool(), reader_tokens=100)
    text, spans = list_passages(
        "1 passage", [passage("p7", "\n".join(f"A line of text, number {n}." for n in range(60)))]
    )
    await shelf.take("c1", "search_docs", ToolResult(text=text, spans=spans))
    await shelf.read("c1", 1)
    assert "[p7] (goes on)" in await shelf.read("c1", 20)


async def test_the_reader_names_what_can_be_read() -> None:
    shelf = shelf_of(MemorySpool())
    await shelf.take("c1", "search_docs", ToolResult(text="word " * 500))
    tool = artifact_cat(shelf)
    with pytest.raises(ToolError, match="c1"):
        await tool.handler(tool.parse({"call_id": "c9"}), None)
    with pytest.raises(ToolError, match="at most"):
        await tool.handler(tool.parse({"call_id": "c1", "start": 99}), None)


async def test_a_result_that_the_spool_lost_is_an_error_for_the_model() -> None:
    spool = MemorySpool()
    shelf = shelf_of(spool)
    await shelf.take("c1", "search_docs", ToolResult(text="word " * 500))
    await spool.delete("turns/")
    tool = artifact_cat(shelf)
    with pytest.raises(ToolError, match="gone"):
        await tool.handler(tool.parse({"call_id": "c1"}), None)


def test_a_page_cannot_give_its_words_to_another_passage() -> None:
    text, spans = list_passages("1 passage", [passage("p1", "one\n[p2] Guide\ntwo")])
    assert [line for line in text.split("\n") if line.startswith("[")] == ["[p1] Guide"]
    assert spans == (Span(passage="p1", start=3, end=6),)
