"""A tool result that is too large for the prompt: it lies in the spool, and is read in bounded pieces.

A place in it is a line and a character of that line, both counted from 0 here and from 1 by the model.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from py_agent.artifacts.fitting import CHARS_PER_TOKEN_MOST, Breathe, fit
from py_agent.artifacts.writing import BlockIndex, TextWriter
from py_agent.model.tool import ResultKind, Span
from py_agent.prompt.tokens import TokenCounter
from py_agent.storage.base import Spool

#: A page ends with a line where that leaves it at least this full.
_FULL_ENOUGH = 0.25


class NoSuchPlace(ValueError):
    """The text has no such line, or the line no such character. The message says what it has."""


@dataclass(frozen=True)
class Piece:
    """A part of a text, and the place where it begins."""

    text: str
    line: int
    column: int


@dataclass(frozen=True)
class Page:
    """What one read shows.

    Attributes:
        text: The text from ``line`` and ``column`` on, with its line feeds. Pages that follow each other are the text.
        line, column: Where it begins.
        next: Where the rest begins; None: there is none.
        last: The last line of which something is shown.
        spans: The passages of which lines are shown, cut to these lines.
        continues: The passage whose text began before the page, if the page starts inside one.
    """

    text: str
    line: int
    column: int
    next: tuple[int, int] | None
    last: int
    spans: tuple[Span, ...] = ()
    continues: str | None = None


class SpooledArtifact:
    """Text in the spool, with an index of its blocks in memory. Make one with ``write`` or ``of``.

    Attributes:
        key: Where it lies.
        kind: What it is.
        lines, size: Its length in lines and in bytes.
        spans: Which lines belong to which passage.
        opened: Whether the model has seen some of its content.
    """

    def __init__(
        self,
        spool: Spool,
        key: str,
        *,
        kind: ResultKind,
        index: BlockIndex,
        lines: int,
        size: int,
        spans: tuple[Span, ...] = (),
    ) -> None:
        self.key = key
        self.kind: ResultKind = kind
        self.lines = lines
        self.size = size
        self.spans = spans
        self.opened = False
        self._spool = spool
        self._index = index

    @classmethod
    def of(cls, spool: Spool, writer: TextWriter, kind: ResultKind, spans: tuple[Span, ...] = ()) -> SpooledArtifact:
        """What a writer that is closed has written."""
        return cls(spool, writer.key, kind=kind, index=writer.index, lines=writer.lines, size=writer.size, spans=spans)

    @classmethod
    async def write(
        cls,
        spool: Spool,
        key: str,
        text: str,
        spans: tuple[Span, ...] = (),
        *,
        kind: ResultKind = "text",
        breathe: Breathe,
    ) -> SpooledArtifact:
        """Spools ``text`` under ``key``.

        Raises:
            StorageError: The spool refused.
        """
        writer = TextWriter(spool, key, breathe)
        await writer.add(text)
        await writer.close()
        return cls.of(spool, writer, kind, spans)

    async def pieces(self, line: int = 0, column: int = 0) -> AsyncIterator[Piece]:
        """The text from a place on, block after block.

        Raises:
            NoSuchPlace: There is no such place.
            KeyError: The spool has lost the artifact.
            StorageError: The spool refused.
        """
        if line >= max(self.lines, 1):
            raise NoSuchPlace(f"there are {self.lines} lines")
        found = False
        for block in range(self._index.find(line, column), len(self._index)):
            raw = await self._spool.read(self.key, self._index.bytes[block], self._index.end(block, self.size))
            piece = Piece(raw.decode(), self._index.lines[block], self._index.columns[block])
            if not found:
                piece = _from(piece, line, column)
                found = True
            if piece.text:
                yield piece

    async def lines_from(self, line: int = 0) -> AsyncIterator[tuple[int, str]]:
        """Lines from ``line`` on with their numbers, without line feeds.

        Raises:
            NoSuchPlace, KeyError, StorageError: As ``pieces``.
        """
        rest = ""
        async for piece in self.pieces(line):
            *complete, rest = (rest + piece.text).split("\n")
            for text in complete:
                yield line, text
                line += 1
        if rest:
            yield line, rest

    async def whole(self) -> str:
        """The whole text; the caller has looked at ``size``.

        Raises:
            KeyError: The spool has lost the artifact.
            StorageError: The spool refused.
        """
        return (await self._spool.read(self.key, 0, self.size)).decode()

    async def page(
        self,
        line: int = 0,
        column: int = 0,
        *,
        max_tokens: int,
        count: TokenCounter,
        end: int | None = None,
    ) -> Page:
        """The text from a place on that fits ``max_tokens``: whole lines and whole passages where it can, at least one
        character, and the line feed behind it.

        Args:
            line, column: The place.
            max_tokens: Bound of the page, in tokens as ``count`` tells them.
            count: Counts tokens.
            end: The line before which to stop; None: the end of the text.

        Raises:
            NoSuchPlace: There is no such place.
            KeyError: The spool has lost the artifact.
            StorageError: The spool refused.
        """
        end = self.lines if end is None else min(end, self.lines)
        limit = max_tokens * CHARS_PER_TOKEN_MOST
        text = ""
        async for piece in self.pieces(line, column):
            text += piece.text[: limit + 1 - len(text)]
            if len(text) > limit:
                break
        text = _lines_of(text, max(end - line, 0))
        if text:
            length = self._cut(text, line, fit(text, max_tokens, count))
            # The line feed that ends a page costs nothing: it is not shown.
            if text[length - 1] != "\n":
                length += text.startswith("\n", length)
            text = text[:length]
        reached = _behind(text, line, column)
        last = max(reached[0] - (reached[1] == 0), line)
        spans = tuple(
            span.model_copy(update={"start": max(span.start, line), "end": min(span.end, last + 1)})
            for span in self.spans
            if span.start <= last and span.end > line
        )
        rest = reached if await self._is_left(reached, end) else None
        return Page(text, line, column, rest, last, spans if text else (), self.begun_before(line, column))

    async def tail(self, lines: int, *, max_tokens: int, count: TokenCounter) -> tuple[int, int]:
        """Where the last ``lines`` lines begin, or as many of them as fit ``max_tokens``.

        Raises:
            KeyError, StorageError: As ``page``.
        """
        place = max(self.lines - lines, 0), 0
        limit = max_tokens * CHARS_PER_TOKEN_MOST
        kept = ""
        async for piece in self.pieces(*place):
            kept += piece.text
            kept, place = _without_first(kept, len(kept) - limit, place)
        while count(kept) > max_tokens and len(kept) > 1:
            feed = kept.find("\n", 0, len(kept) - 1)
            kept, place = _without_first(kept, feed + 1 or len(kept) // 8 + 1, place)
        return place

    def spans_of(self, lines: set[int]) -> tuple[Span, ...]:
        """The passages to which some of ``lines`` belong, one span each line."""
        return tuple(
            Span(passage=span.passage, start=line, end=line + 1)
            for line in sorted(lines)
            for span in self.spans
            if span.start <= line < span.end
        )

    def begun_before(self, line: int, column: int) -> str | None:
        """The passage inside which a place lies, if its text began before."""
        return next((span.passage for span in self.spans if (span.start, 0) < (line, column) and line < span.end), None)

    def passage_at(self, line: int) -> str | None:
        """The passage to which a line belongs."""
        return next((span.passage for span in self.spans if span.start <= line < span.end), None)

    def _cut(self, text: str, line: int, length: int) -> int:
        """Where a page of ``length`` characters at most should end."""
        if length == len(text):
            return length
        whole_lines = text.rfind("\n", 0, length) + 1
        if whole_lines < length * _FULL_ENOUGH:
            return length
        # Not inside a passage, if a whole one came before: a passage is not torn without need.
        last = line + text.count("\n", 0, whole_lines)
        whole = [span.end for span in self.spans if line < span.end <= last]
        if whole and any(span.start - 1 < last < span.end for span in self.spans):
            keep = max(whole) - line
            at = 0
            for _ in range(keep):
                at = text.index("\n", at) + 1
            return at
        return whole_lines

    async def _is_left(self, place: tuple[int, int], end: int) -> bool:
        """Whether there is text from ``place`` on, before the line ``end``."""
        line, column = place
        if line >= end:
            return False
        if not column:
            return True
        async for _ in self.pieces(line, column):
            return True
        return False


def _from(piece: Piece, line: int, column: int) -> Piece:
    """The part of ``piece`` from a place on that lies in it.

    Raises:
        NoSuchPlace: The line has no such character.
    """
    at = 0
    for _ in range(line - piece.line):
        at = piece.text.index("\n", at) + 1
    at_column = piece.column if line == piece.line else 0
    feed = piece.text.find("\n", at)
    length = (len(piece.text) if feed < 0 else feed) - at + at_column
    if column > length:
        raise NoSuchPlace(f"line {line + 1} has {length} characters")
    return Piece(piece.text[at + column - at_column :], line, column)


def _lines_of(text: str, lines: int) -> str:
    """The first ``lines`` lines of ``text``."""
    at = 0
    for _ in range(lines):
        feed = text.find("\n", at)
        if feed < 0:
            return text
        at = feed + 1
    return text[:at]


def _behind(text: str, line: int, column: int) -> tuple[int, int]:
    """The place behind ``text``, which begins at a place."""
    feeds = text.count("\n")
    return line + feeds, len(text) - text.rfind("\n") - 1 if feeds else column + len(text)


def _without_first(text: str, length: int, place: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    """``text`` without its first ``length`` characters, and without the rest of the line that this tears if there is
    another; and the place where that begins."""
    if length <= 0:
        return text, place
    feed = text.find("\n", length - 1, len(text) - 1)
    cut = feed + 1 or length
    return text[cut:], _behind(text[:cut], *place)
