"""Follows Markdown code while text streams by: a marker inside code is an example, not a marker."""

from __future__ import annotations

import re

#: What opens a fence, at the beginning of a line.
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

_RUN = re.compile(r"`+|[^`]+")
#: Characters of a line that closes a fence, at most: nobody writes more, and a longer line need not be read again.
MAX_CLOSING = 200
#: Characters that end a sentence: behind one, a call may stand in the middle of a line.
SENTENCE_ENDS = ".!?\u2026"


class CodeTracker:
    """Feed it text in order; it tells where the next character stands.

    Attributes:
        fence: The run of backticks or tildes that opened the fence in which we are; empty outside.
    """

    def __init__(self) -> None:
        self.fence = ""
        self._line: list[str] = []
        # Of the line so far: its first characters, its length, the inline span that is open, the run at its very end.
        self._start = ""
        self._length = 0
        self._span = 0
        self._run = 0
        self._after_sentence = False

    @property
    def inside(self) -> bool:
        """Whether a fence is open, or an inline code span on this line."""
        return self.in_fence or bool(self.span)

    @property
    def in_fence(self) -> bool:
        """Whether the next character stands in a fence, or on the line that opens one. Behind a line that closes the
        fence it does not, also before the line's end.
        """
        if self.fence:
            return not self._closes()
        return self._start.lstrip(" ").startswith("~~~") and FENCE.match(self._start) is not None

    @property
    def span(self) -> int:
        """The backticks that opened the inline span in which we are, or a fence on its own line; 0 outside."""
        if self.fence or self._start.startswith("    "):
            return 0
        if not self._run:
            return self._span
        if not self._span:
            return self._run
        return 0 if self._run == self._span else self._span

    @property
    def blank(self) -> bool:
        """Whether nothing stands on this line but an indentation that is no code."""
        return self._length <= 3 and not self._start.strip(" ")

    @property
    def after_sentence(self) -> bool:
        """Whether the last thing on this line, but for spaces, ended a sentence."""
        return self._after_sentence and not self.inside

    def feed(self, text: str) -> None:
        """Takes the next piece of text."""
        first, *others = text.split("\n")
        self._extend(first)
        for line in others:
            self._end_line()
            self._extend(line)

    def _extend(self, text: str) -> None:
        if not text:
            return
        self._line.append(text)
        self._length += len(text)
        if len(self._start) < 8:
            self._start = (self._start + text)[:8]
        if shown := text.rstrip(" "):
            self._after_sentence = shown[-1] in SENTENCE_ENDS
        for part in _RUN.findall(text):
            if part[0] == "`":
                self._run += len(part)
            elif self._run:
                self._span, self._run = self.span, 0

    def _closes(self) -> bool:
        """Whether the line so far closes the fence."""
        if self._start.lstrip(" ")[:1] != self.fence[0] or self._length > MAX_CLOSING:
            return False
        line = "".join(self._line)
        match = FENCE.match(line)
        if match is None or line[match.end() :].strip():
            return False
        return match[1][0] == self.fence[0] and len(match[1]) >= len(self.fence)

    def _end_line(self) -> None:
        if self.fence:
            if self._closes():
                self.fence = ""
        elif FENCE.match(self._start) is not None:
            line = "".join(self._line)
            match = FENCE.match(line)
            if match is not None and (match[1][0] == "~" or "`" not in line[match.end() :]):
                self.fence = match[1]
        self._line = []
        self._start, self._length, self._span, self._run, self._after_sentence = "", 0, 0, 0, False
