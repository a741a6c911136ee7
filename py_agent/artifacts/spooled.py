"""A tool result that is too large for the prompt: it lies in the spool, and is read in bounded pieces."""

from __future__ import annotations

from bisect import bisect_right

from py_agent.model.base import Record
from py_agent.model.tool import Span
from py_agent.prompt.tokens import TokenCounter
from py_agent.storage.base import Spool

#: Longest line, in characters. A longer one is cut into several, so that one line can never exceed a read.
MAX_LINE_CHARS = 2_000


class Page(Record):
    """What one read shows.

    Attributes:
        text: Lines ``start`` to ``end`` (exclusive), joined by line feeds.
        start, end, total: Line numbers, counted from 0, and how many lines there are.
        spans: The passages whose lines are in ``text``, cut to the lines shown.
        continues: The passage whose text began before ``start``, if the page starts inside one.
    """

    text: str
    start: int
    end: int
    total: int
    spans: tuple[Span, ...] = ()
    continues: str | None = None


class SpooledArtifact:
    """Text in the spool, with an index of its lines in memory. Make one with ``write``."""

    def __init__(self, spool: Spool, key: str, offsets: list[int], spans: tuple[Span, ...]) -> None:
        self.key = key
        self.spans = spans
        self.opened = False
        self._spool = spool
        self._offsets = offsets

    @classmethod
    async def write(cls, spool: Spool, key: str, text: str, spans: tuple[Span, ...] = ()) -> SpooledArtifact:
        """Spools ``text`` under ``key``.

        Raises:
            StorageError: The spool refused.
        """
        lines: list[bytes] = []
        starts: list[int] = []  # first spooled line of each line of the text: long ones became several
        for line in text.split("\n"):
            starts.append(len(lines))
            pieces = [line[at : at + MAX_LINE_CHARS] for at in range(0, len(line), MAX_LINE_CHARS)] or [""]
            lines.extend(piece.encode() for piece in pieces)
        starts.append(len(lines))
        offsets = [0]
        for raw in lines:
            offsets.append(offsets[-1] + len(raw) + 1)
        await spool.write(key, b"\n".join(lines) + b"\n")
        moved = tuple(span.model_copy(update={"start": starts[span.start], "end": starts[span.end]}) for span in spans)
        return cls(spool, key, offsets, moved)

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return len(self._offsets) - 1

    async def page(self, start: int, *, max_tokens: int, count: TokenCounter) -> Page:
        """The lines from ``start`` on that fit ``max_tokens``, at least one. Ends between passages where it can.

        Args:
            start: A line number, counted from 0, less than ``lines``.
            max_tokens: Bound of the page, in tokens as ``count`` tells them.
            count: Counts tokens.

        Raises:
            KeyError: The spool has lost the artifact.
            StorageError: The spool refused.
        """
        # A token is at least one byte: what is read is bounded whatever the size of the artifact.
        first = self._offsets[start]
        limit = max(self._offsets[start + 1], first + max_tokens * 8)
        last = max(start + 1, bisect_right(self._offsets, limit) - 1)
        raw = await self._spool.read(self.key, first, self._offsets[last] - 1)
        lines = raw.decode().split("\n")
        used = 0
        end = start
        for line in lines:
            used += count(line + "\n")
            if used > max_tokens and end > start:
                break
            end += 1
        end = self._whole_passages(start, end)
        spans = tuple(
            span.model_copy(update={"start": max(span.start, start), "end": min(span.end, end)})
            for span in self.spans
            if span.start < end and span.end > start
        )
        continues = next((span.passage for span in self.spans if span.start < start < span.end), None)
        text = "\n".join(lines[: end - start])
        return Page(text=text, start=start, end=end, total=self.lines, spans=spans, continues=continues)

    def _whole_passages(self, start: int, end: int) -> int:
        """``end``, or the end of the last whole passage before it, so that a passage is not torn without need."""
        if end >= self.lines:
            return end
        whole = [span.end for span in self.spans if start < span.end <= end]
        torn = any(span.start - 1 < end < span.end for span in self.spans)
        return max(whole) if torn and whole else end
