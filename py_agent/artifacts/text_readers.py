"""Readers of any artifact: its lines, a search through them, and its measures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from py_agent.artifacts.reading import CursorArgs, Reader, ReaderArgs, refusal
from py_agent.artifacts.shelf import Shelf
from py_agent.artifacts.spooled import SpooledArtifact
from py_agent.prompt.envelopes import break_tokens
from py_agent.prompt.wording import wording

#: Lines that head and tail show unless told.
DEFAULT_LINES = 10
#: Lines that they show at most; the cap in tokens usually comes first.
MAX_LINES = 1_000

#: Bytes of a text whose tokens are counted one by one; of a longer one a sample is counted and the rest inferred.
COUNTED_BYTES = 262_144


class GrepArgs(CursorArgs):
    """Arguments of ``artifact_grep``."""

    pattern: str = Field(min_length=1, description="Plain words, or one|other.")


class LinesArgs(ReaderArgs):
    """Arguments of ``artifact_head`` and ``artifact_tail``."""

    lines: int = Field(default=DEFAULT_LINES, ge=1, le=MAX_LINES, description="How many lines.")


async def _cat(shelf: Shelf, artifact: SpooledArtifact, args: CursorArgs) -> str:
    page = await shelf.page(artifact, args.start - 1, args.offset)
    return shelf.show_page(args.call_id, page, "artifact_cat")


async def _grep(shelf: Shelf, artifact: SpooledArtifact, args: GrepArgs) -> str:
    from py_agent.artifacts.grep import search
    from py_agent.artifacts.patterns import MAX_PATTERN_CHARS, BadPattern, compile_pattern

    try:
        pattern = compile_pattern(args.pattern)
    except BadPattern as error:
        raise refusal("pattern", "bad_pattern", reason=str(error), limit=MAX_PATTERN_CHARS) from None
    found = await search(
        artifact,
        pattern,
        line=args.start - 1,
        column=args.offset,
        max_tokens=shelf.page_tokens - shelf.count(args.pattern),
        count=shelf.count,
        breathe=shelf.breathe,
    )
    if found.lines:
        shelf.show(args.call_id, artifact.spans_of(found.lines))
    again = found.next or found.reached
    return wording(
        "artifact_found",
        call=args.call_id,
        pattern=break_tokens(args.pattern),
        start=args.start,
        more=found.more,
        next=again,
        reached=found.reached[0] + 1 if found.reached else 0,
        total=artifact.lines,
        body=shelf.envelope(found.shown, "artifact_grep") if found.lines else "",
    )


async def _head(shelf: Shelf, artifact: SpooledArtifact, args: LinesArgs) -> str:
    page = await shelf.page(artifact, end=args.lines)
    if page.next is None and args.lines < artifact.lines:
        page = replace(page, next=(args.lines, 0))
    return shelf.show_page(args.call_id, page, "artifact_head")


async def _tail(shelf: Shelf, artifact: SpooledArtifact, args: LinesArgs) -> str:
    place = await artifact.tail(args.lines, max_tokens=shelf.page_tokens, count=shelf.count)
    page = await shelf.page(artifact, *place)
    return shelf.show_page(args.call_id, page, "artifact_tail")


async def _byte_length(_shelf: Shelf, artifact: SpooledArtifact, args: ReaderArgs) -> str:
    return wording("artifact_measure", call=args.call_id, measure="bytes", value=artifact.size)


async def _line_count(_shelf: Shelf, artifact: SpooledArtifact, args: ReaderArgs) -> str:
    return wording("artifact_measure", call=args.call_id, measure="lines", value=artifact.lines)


async def _estimate_tokens(shelf: Shelf, artifact: SpooledArtifact, args: ReaderArgs) -> str:
    tokens = counted = 0
    async for piece in artifact.pieces():
        tokens += shelf.count(piece.text)
        counted += len(piece.text.encode())
        await shelf.breathe()
        if counted >= COUNTED_BYTES:
            break
    value = round(tokens * artifact.size / counted) if counted else 0
    return wording("artifact_measure", call=args.call_id, measure="tokens", value=value)


_CAT = "Shows the next part of a result that was kept aside. Call it for every handle you were given."


def _reader(name: str, description: str, args: Any, read: Any, brief: str = "") -> Reader:
    return Reader(name=name, description=description, brief=brief, args=args, read=read)


#: What shows content, the most useful first.
CONTENT = (
    _reader("artifact_cat", _CAT, CursorArgs, _cat, "Shows lines of a result that was kept aside."),
    _reader("artifact_grep", "Shows the lines of a kept result that match.", GrepArgs, _grep),
    _reader("artifact_head", "Shows the first lines of a kept result.", LinesArgs, _head),
    _reader("artifact_tail", "Shows the last lines of a kept result.", LinesArgs, _tail),
)

#: What only measures: a model that begins with these has learnt nothing.
MEASURES = (
    _reader("artifact_byte_length", "Bytes of a kept result.", ReaderArgs, _byte_length),
    _reader("artifact_line_count", "Lines of a kept result.", ReaderArgs, _line_count),
    _reader("artifact_estimate_tokens", "Tokens of a kept result, about.", ReaderArgs, _estimate_tokens),
)
