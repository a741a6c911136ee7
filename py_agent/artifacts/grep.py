"""Searches a spooled text for a pattern, line by line, within a budget of time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from py_agent.artifacts.fitting import Breathe, fit, fits
from py_agent.artifacts.patterns import MAX_PATTERN_CHARS, Pattern
from py_agent.artifacts.spooled import SpooledArtifact
from py_agent.prompt.tokens import TokenCounter

#: Milliseconds that one search may spend on matching.
PATTERN_BUDGET_MS = 500

#: Longest piece of a line, in characters, that a pattern with a quantifier is tried on at once: its time grows with
#: the square, and 500 characters take about a millisecond in a page. Neighbours share as much as a pattern is long.
PIECE_CHARS = 500
#: What a pattern without one is tried on at once: 16,384 characters take less than a frame.
PIECE_CHARS_LITERAL = 16_384

#: Lines up to this length are shown whole; of longer ones, as much as this around the match.
LINE_CHARS = 200


@dataclass
class Search:
    """What a search has found.

    Attributes:
        shown: The first lines that match, as many as fit: each with its number, long ones with the character where the
            part that is shown begins, and the passage's id in front where it changes.
        lines: The numbers of these lines, counted from 0.
        more: How many further ones there are, as far as the search came.
        next: Where the first of these is.
        reached: Where the search has stopped because its time was up; None: it saw the whole text.
    """

    shown: str = ""
    lines: set[int] = field(default_factory=set)
    more: int = 0
    next: tuple[int, int] | None = None
    reached: tuple[int, int] | None = None


async def search(
    artifact: SpooledArtifact,
    pattern: Pattern,
    *,
    line: int = 0,
    column: int = 0,
    max_tokens: int,
    count: TokenCounter,
    breathe: Breathe,
    budget_ms: float = PATTERN_BUDGET_MS,
) -> Search:
    """Looks for a pattern from a place on. Each line counts once, and of a long line each piece.

    Raises:
        NoSuchPlace, KeyError, StorageError: As ``SpooledArtifact.pieces``.
    """
    result = Search()
    size = PIECE_CHARS if pattern.repeats else PIECE_CHARS_LITERAL
    text = ""
    at = 0  # what stands before this in ``text`` is done
    spent = 0.0
    async for piece in artifact.pieces(line, column):
        part = _Part(
            text + piece.text, *((piece.line, piece.column - len(text)) if text else (piece.line, piece.column))
        )
        text = part.text
        for start, end in _windows(text, size):
            await breathe()
            begun = time.perf_counter()
            while (match := pattern.expression.search(text, max(at, start), end)) is not None:
                first, last = part.line_around(match)
                _note(result, artifact, part, match, first, last, max_tokens, count)
                at = last + 1 if last - first < size else max(end, match.end())
                if at >= end:
                    break
            spent += time.perf_counter() - begun
            if spent * 1_000 > budget_ms:
                result.reached = part.place(end)
                return result
        # A line that is not finished is long, and its pieces share some characters with the next ones.
        kept = 0 if text.endswith("\n") else min(len(text) - text.rfind("\n") - 1, MAX_PATTERN_CHARS)
        at = max(at - len(text) + kept, 0)
        text = text[len(text) - kept :]
    return result


class _Part:
    """A part of the text, and where it begins."""

    def __init__(self, text: str, line: int, column: int) -> None:
        self.text = text
        self._line = line
        self._column = column
        self._counted = 0, line

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of a character. Asked in ascending order."""
        before, line = self._counted
        line += self.text.count("\n", before, at)
        self._counted = at, line
        start = self.text.rfind("\n", 0, at) + 1
        return line, at - start + (0 if start else self._column)

    def line_around(self, match: re.Match[str]) -> tuple[int, int]:
        """Where the line in which a match stands begins and ends in this part."""
        end = self.text.find("\n", match.end())
        return self.text.rfind("\n", 0, match.start()) + 1, len(self.text) if end < 0 else end


def _windows(text: str, size: int) -> Iterator[tuple[int, int]]:
    """``text`` in windows of at most ``size`` characters: whole lines, and pieces of lines that are longer."""
    at = 0
    while at < len(text):
        feed = text.rfind("\n", at, at + size)
        if feed >= 0:
            yield at, feed + 1
            at = feed + 1
            continue
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        while at + size < end:
            yield at, at + size
            at += size - MAX_PATTERN_CHARS
        yield at, end
        at = end + 1


def _note(
    result: Search,
    artifact: SpooledArtifact,
    part: _Part,
    match: re.Match[str],
    first: int,
    last: int,
    max_tokens: int,
    count: TokenCounter,
) -> None:
    """Adds a match to what is shown, or counts it where that is full."""
    line, column = part.place(match.start())
    if result.next is not None:
        result.more += 1
        return
    text = part.text
    if last - first <= LINE_CHARS and (first or not column - (match.start() - first)):
        told = f"{line + 1}: {text[first:last]}"
    else:
        low = max(first, match.start() - LINE_CHARS // 4)
        high = min(last, low + LINE_CHARS)
        shown = column - (match.start() - low)
        told = f"{line + 1} from character {shown + 1}: {text[low:high]}"
    passage = artifact.passage_at(line)
    if passage is not None and (not result.lines or artifact.passage_at(max(result.lines)) != passage):
        told = f"[{passage}]\n{told}"
    joined = f"{result.shown}\n{told}" if result.shown else told
    if not result.shown and not fits(told, max_tokens, count):
        joined = told[: fit(told, max_tokens, count)]
    elif not fits(joined, max_tokens, count):
        result.next = line, column
        result.more = 1
        return
    result.shown = joined
    result.lines.add(line)
