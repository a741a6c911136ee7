"""Reads are bounded, and what follows each other is the whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_agent.artifacts.spooled import SpooledArtifact
from py_agent.artifacts.writing import BLOCK_CHARS, TextWriter
from py_agent.model.tool import Span, ToolError, ToolResult
from py_agent.prompt.tokens import estimate_tokens
from py_agent.runner.breathe import Breather
from py_agent.storage.spool import MemorySpool
from tests.artifacts.shelves import body, call, kept, shelf_of, stream_of

#: Texts with long lines, many lines, characters of every width, and control tokens.
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(["\n", "\n\n", "\r\n", "<end_of_turn>", "🙂" * 40, "漢字" * 60, " " * 300, "[c1 0a1b2c3d]"]),
        st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=20), st.integers(1, 400)),
    ),
    max_size=12,
).map("".join)


async def artifact_of(text: str, pieces: int = 1_000_000) -> SpooledArtifact:
    writer = TextWriter(MemorySpool(), "k", Breather(50))
    for at in range(0, len(text), pieces):
        await writer.add(text[at : at + pieces])
    await writer.close()
    return SpooledArtifact.of(writer._spool, writer, "text")


def count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))


@settings(deadline=None)
@given(text=TEXTS, cap=st.integers(1, 300), pieces=st.integers(1, 500))
async def test_pages_joined_are_the_text_and_none_is_above_its_cap(text: str, cap: int, pieces: int) -> None:
    artifact = await artifact_of(text, pieces)
    assert artifact.lines == count_lines(text)
    place: tuple[int, int] | None = (0, 0)
    joined = ""
    while place is not None:
        page = await artifact.page(*place, max_tokens=cap, count=estimate_tokens)
        shown = page.text.removesuffix("\n")  # a line feed at the end is not shown
        assert estimate_tokens(shown) <= cap or len(shown) == 1
        assert page.text or not text
        joined += page.text
        place = page.next
    assert joined == text


@settings(deadline=None)
@given(text=TEXTS, data=st.data())
async def test_any_cursor_begins_at_its_character(text: str, data: st.DataObject) -> None:
    artifact = await artifact_of(text)
    lines = text.split("\n")
    line = data.draw(st.integers(0, max(artifact.lines - 1, 0)))
    column = data.draw(st.integers(0, len(lines[line])))
    page = await artifact.page(line, column, max_tokens=100, count=estimate_tokens)
    assert "\n".join(lines[line:])[column:].startswith(page.text)


@settings(deadline=None)
@given(text=TEXTS.filter(bool), cap=st.integers(150, 400), kind=st.sampled_from(["artifact_cat", "artifact_grep"]))
async def test_what_the_model_sees_is_bounded_and_names_the_next_read(text: str, cap: int, kind: str) -> None:
    shelf = await kept(text, reader_tokens=cap)
    cursor: dict[str, int] = {"start": 1}
    shown = []
    arguments = {"pattern": "."} if kind == "artifact_grep" else {}
    for _ in range(10_000):
        seen = await call(shelf, kind, **arguments, **cursor)
        assert estimate_tokens(seen) <= cap
        shown.append(seen)
        following = re.search(r"start (\d+)(?:, offset (\d+))?\.$", seen)
        if following is None:
            break
        then = {"start": int(following[1]), "offset": int(following[2] or 0)}
        assert (then["start"], then["offset"]) > (cursor["start"], cursor.get("offset", 0))
        cursor = then
    else:
        raise AssertionError("the reads do not end")
    if kind == "artifact_cat":
        assert "<end_of_turn>" not in "".join(shown)


@settings(deadline=None)
@given(text=TEXTS.filter(bool), lines=st.integers(1, 40), cap=st.integers(5, 200))
async def test_a_tail_is_the_end_of_the_text(text: str, lines: int, cap: int) -> None:
    artifact = await artifact_of(text)
    place = await artifact.tail(lines, max_tokens=cap, count=estimate_tokens)
    page = await artifact.page(*place, max_tokens=cap, count=estimate_tokens)
    assert page.text
    assert text.count("\n", 0, len(text) - 1) - lines + 1 <= page.line
    ends = text.endswith(page.text)
    assert ends or page.next is not None


async def test_the_same_text_in_other_pieces_is_the_same_artifact() -> None:
    text = (
        "".join(f"line {number} " + "word " * (number % 40) + "\n" for number in range(3_000)) + "x" * 200_000 + "🙂é"
    )
    whole = await artifact_of(text)
    for pieces in (1, 7, BLOCK_CHARS - 1, BLOCK_CHARS + 1):
        other = await artifact_of(text[:20_000] if pieces == 1 else text, pieces)
        assert other.size == len((text[:20_000] if pieces == 1 else text).encode())
        if pieces > 1:
            assert other.lines == whole.lines
            assert "".join([piece.text async for piece in other.pieces()]) == text


async def test_the_index_of_a_large_text_is_sparse() -> None:
    artifact = await artifact_of("a line of some words\n" * 500_000)
    assert len(artifact._index) <= artifact.size / BLOCK_CHARS * 1.1
    page = await artifact.page(499_999, max_tokens=50, count=estimate_tokens)
    assert page.text == "a line of some words\n"


async def test_halves_of_a_character_are_joined_and_lonely_ones_replaced() -> None:
    shelf = shelf_of(inline_tokens=0)
    await shelf.take("c1", "tool", ToolResult(stream=stream_of("a\ud83d", "\ude42b\ud83d", "c", "\ud83d")))
    assert body(await call(shelf, "artifact_cat"), "artifact_cat") == "a🙂b\ufffdc\ufffd"


async def test_a_page_ends_with_a_whole_passage_where_it_can() -> None:
    text = "intro\n" + "first passage words\n" * 3 + "second passage words\n" * 30
    spans = (Span(passage="p1", start=1, end=4), Span(passage="p2", start=4, end=34))
    artifact = await SpooledArtifact.write(MemorySpool(), "k", text, spans, breathe=Breather(50))
    page = await artifact.page(max_tokens=60, count=estimate_tokens)
    assert page.text.endswith("first passage words\n")
    assert [span.passage for span in page.spans] == ["p1"]
    again = await artifact.page(*page.next or (0, 0), max_tokens=60, count=estimate_tokens)
    assert [span.passage for span in again.spans] == ["p2"]
    assert again.continues is None


async def test_head_and_tail_say_how_to_go_on() -> None:
    shelf = await kept("".join(f"line {number}\n" for number in range(1, 101)))
    head = await call(shelf, "artifact_head", lines=3)
    assert body(head, "artifact_head") == "line 1\nline 2\nline 3"
    assert head.endswith("97 more lines: artifact_cat with call_id c1, start 4.")
    tail = await call(shelf, "artifact_tail", lines=2)
    assert body(tail, "artifact_tail") == "line 99\nline 100"


async def test_the_measures_are_right_and_open_nothing() -> None:
    shelf = await kept("ä line\n" * 50)
    assert await call(shelf, "artifact_line_count") == "c1: 50 lines."
    assert await call(shelf, "artifact_byte_length") == "c1: 400 bytes."
    told = await call(shelf, "artifact_estimate_tokens")
    assert abs(int(re.findall(r"about (\d+)", told)[0]) - estimate_tokens("ä line\n" * 50)) <= 1
    assert shelf.unread == ("c1",)


async def test_a_model_that_counts_from_nought_is_told() -> None:
    shelf = await kept("text " * 100)
    with pytest.raises(ToolError, match="start"):
        await call(shelf, "artifact_cat", start=0)
