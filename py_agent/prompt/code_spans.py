"""Follows Markdown code while text streams by: a marker inside code is an example, not a marker."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class CodeTracker:
    """Feed it text in order; ``inside`` tells whether the next character stands in code."""

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""

    @property
    def inside(self) -> bool:
        """Whether a fence is open, or an inline code span on this line."""
        return bool(self._fence) or self._open_on_this_line() or self._inline()

    @property
    def fenced(self) -> bool:
        """Whether a fence is open."""
        return bool(self._fence)

    @property
    def line(self) -> str:
        """The line that is not complete yet."""
        return self._line

    def feed(self, text: str) -> None:
        """Takes the next piece of text."""
        *complete, last = (self._line + text).split("\n")
        for line in complete:
            self._end_line(line)
        self._line = last

    def _end_line(self, line: str) -> None:
        match = _FENCE.match(line)
        if match is None:
            return
        run = match[1]
        if not self._fence:
            self._fence = run
        elif run[0] == self._fence[0] and len(run) >= len(self._fence) and not line[match.end() :].strip():
            self._fence = ""

    def _open_on_this_line(self) -> bool:
        return _FENCE.match(self._line) is not None

    def _inline(self) -> bool:
        """Whether a run of backticks on this line has no partner of its own length yet."""
        if self._line.startswith("    "):
            return False
        open_run = ""
        for run in re.findall(r"`+", self._line):
            if not open_run:
                open_run = run
            elif run == open_run:
                open_run = ""
        return bool(open_run)
