"""Splits a model's stream into what the reader may see, what the model thought, and the calls it made.

Markers may be cut anywhere between two chunks, and the result does not depend on where. Of ordinary text only as much
is held back as could still be the start of a marker or of a call; what stands where a call may stand, and begins like
one, is held until it is certain (held.py, bare.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from py_agent.model.prompt import ToolSpec
from py_agent.prompt.bare import Bare, Keyed
from py_agent.prompt.code_spans import SENTENCE_ENDS, CodeTracker
from py_agent.prompt.held import Fence, Held, Verdict, Wrapped
from py_agent.prompt.markers import (
    CALLS,
    MAX_PADS,
    PAD,
    STOPS,
    THOUGHTS,
    FillerCounter,
    half_marker_at,
    is_half,
    marker_at,
)
from py_agent.prompt.output import Output, Piece
from py_agent.prompt.parsers.chars import HalfJoiner
from py_agent.prompt.parsers.heads import MAX_LOOK, bare_head
from py_agent.prompt.parsers.known import KnownTools

__all__ = ["MAX_PADS", "Output", "Piece", "StreamSplitter"]

#: Characters behind a marker in which an inline code span has to close for the marker to be an example. Without a bound
#: one stray backtick would hold back all the rest of its line.
MAX_SPAN = 256

#: Longest line that can open a fence for calls, in characters behind its backticks.
MAX_INFO = 20

#: Backticks that can open such a fence, at most; more need not be counted.
MAX_RUN = 16

_TEXT = re.compile(rf"[^<\n{SENTENCE_ENDS}]*(?:\n|[{SENTENCE_ENDS}] *)?")
_SPACES = re.compile(r" +")
_LINE = re.compile(r"[^<\n]*\n?")
_RUN = re.compile(r"`+")
_TRAILING = re.compile(rf"(?:(?:{'|'.join(map(re.escape, (*STOPS, PAD)))})\s*)+")
_LABEL = "thought"


class StreamSplitter:
    """Feed it chunks, then ``finish`` it.

    Args:
        tools: The tools that may be called, as they are declared, or by name with the names of their parameters. Only a
            known name makes a call of what has no marker.
        start_in_thought: The template has opened the thought in front of the first token.
    """

    def __init__(
        self,
        tools: Iterable[ToolSpec] | Mapping[str, Sequence[str]] = (),
        *,
        start_in_thought: bool = False,
    ) -> None:
        self.output = Output()
        self._tools = KnownTools(tools)
        self._halves = HalfJoiner()
        self._filler = FillerCounter()
        # What is not decided, and how far it is. In front of `_plain` no call without markers can begin.
        self._buffer = ""
        self._at = 0
        self._plain = 0
        # Where we are: in a stretch that is held, in a thought that these markers close, or in text.
        self._held: Held | None = None
        self._closers: tuple[str, ...] = tuple(THOUGHTS.values()) if start_in_thought else ()
        self._code = CodeTracker()
        self._thought_code = CodeTracker()
        self._over = False
        self._ending = False
        self._cut = False
        self._number = -1
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._pieces: list[Piece] = []
        self._suspects: list[tuple[str, str, str]] = []

    @property
    def done(self) -> bool:
        """The model's turn is over: what comes now is not its own."""
        return self._over or self.output.degenerate

    def feed(self, chunk: str) -> list[Piece]:
        """Takes the next chunk; gives back what it makes certain, in order."""
        if self.done:
            return []
        chunk = self._halves.feed(chunk)
        flood = self._filler.feed(chunk)
        self._buffer += chunk if flood is None else chunk[:flood]
        self._run()
        if flood is not None:
            self.output.degenerate = True
            self._buffer, self._at, self._held = "", 0, None
        pieces, self._pieces = self._pieces, []
        return pieces

    def finish(self, reason: str = "stop") -> Output:
        """The whole output. ``reason`` is the engine's: with ``length``, an open call was cut and never counts."""
        output = self.output
        self._ending, self._cut = True, reason != "stop"
        while not output.degenerate:
            self._run()
            if self._held is None:
                break
            self._settle(self._held, self._held.finish(stopped=not self._cut))
        output.text = "".join(self._text).strip()
        if reason == "length" and not output.calls and not self._over:
            output.truncated = True
        thinking = "".join(self._thinking).strip()
        output.thinking = thinking.removeprefix(f"{_LABEL}\n").strip() if thinking != _LABEL else ""
        for text, name, why in self._suspects:
            if text.strip() == output.text:
                # All that the model wrote is a call that cannot be read: it stays text, and the model hears why.
                output.rejected.append(name)
                output.bad_calls.append(why)
        return output

    def _run(self) -> None:
        """Takes steps until one needs more than there is."""
        while self._at < len(self._buffer) and not self._over:
            if self._held is not None:
                self._feed_held(self._held)
            elif not (self._in_thought() if self._closers else self._in_text()):
                break
        if self._over:
            self._at = len(self._buffer)
        self._buffer = self._buffer[self._at :]
        self._plain = max(0, self._plain - self._at)
        self._at = 0

    def _emit(self, kind: Literal["text", "thinking", "call"], text: str, number: int = 0) -> None:
        if not text:
            return
        if kind == "text":
            self._code.feed(text)
            self._text.append(text)
        elif kind == "thinking":
            self._thought_code.feed(text)
            self._thinking.append(text)
        last = self._pieces[-1] if self._pieces else None
        if last is not None and (last.kind, last.number) == (kind, number):
            last.text += text
        else:
            self._pieces.append(Piece(kind, text, number))

    def _show(self, end: int) -> bool:
        """Text up to ``end``."""
        self._emit("text", self._buffer[self._at : end])
        self._at = end
        return True

    # Stretches that are held.

    def _hold(self, held: Held, start: int) -> bool:
        self._held = held
        self._at = start
        self._number += 1
        return True

    def _feed_held(self, held: Held) -> None:
        text, self._buffer, self._at = self._buffer[self._at :], "", 0
        self._settle(held, held.feed(text))

    def _settle(self, held: Held, verdict: Verdict) -> None:
        self._emit("call", held.news, self._number)
        if verdict == "open":
            return
        self._held = None
        if verdict == "text":
            self._buffer, self._at, self._plain = held.text, 0, held.plain
            if held.suspect is not None:
                self._suspects.append((held.text, held.suspect.name, str(held.suspect)))
            return
        self._buffer, self._at, self._plain = held.rest, 0, 0
        self.output.calls.extend(held.calls)
        for bad in held.bad:
            self.output.bad_calls.append(str(bad))
            if bad.name:
                self.output.rejected.append(bad.name)
        self.output.truncated = self.output.truncated or held.truncated

    # Each step takes what it can from where we are; False: it needs more.

    def _in_text(self) -> bool:
        if self._code.in_fence:
            return self._in_fence()
        if self._at >= self._plain and not self._code.span and (found := self._call_here()) is not None:
            return found
        if self._buffer[self._at] == "<":
            return self._in_angle()
        spaced = self._code.blank or self._code.after_sentence
        match = (_SPACES.match(self._buffer, self._at) if spaced else None) or _TEXT.match(self._buffer, self._at)
        if self._code.blank and match is not None and match.re is _SPACES:
            return self._show(self._at + 1)
        return self._show(match.end() if match is not None else self._at + 1)

    def _call_here(self) -> bool | None:
        """Whether a call without markers begins here: False while that is open, None if it does not."""
        char = self._buffer[self._at]
        if self._code.blank and char == "`":
            return self._fence_here()
        sentence = not self._code.blank
        if char.isspace() or (sentence and not (self._code.after_sentence and char == "c")):
            return None
        look = self._buffer[self._at : self._at + MAX_LOOK]
        if sentence and not (look.startswith("call:") or "call:".startswith(look)):
            return None
        head = bare_head(look, self._tools, first=not sentence)
        if head == "call":
            return self._hold(Bare(self._tools, alone=sentence), self._at)
        if head == "keyed":
            return self._hold(Keyed(self._tools), self._at)
        if head is None and not self._ending:
            return False
        if head is None and self._cut and (look[0] in "{[" or look.startswith("call:")) and len(look) > 1:
            return self._drop_cut()
        self._plain = self._at + 1
        return None

    def _fence_here(self) -> bool | None:
        run = _RUN.match(self._buffer, self._at)
        size = len(run[0]) if run is not None else 0
        behind = self._at + size
        if behind == len(self._buffer) and size <= MAX_RUN and not self._ending:
            return False
        end = self._buffer.find("\n", behind)
        info = self._buffer[behind : end if end >= 0 else None].strip(" \t\r").lower()
        opens = 3 <= size <= MAX_RUN and len(info) <= MAX_INFO
        if opens and end >= 0 and info in ("tool_code", "json", ""):
            opener = self._buffer[self._at : end + 1]
            fence = Fence(self._tools, opener, opener[:size], code=info == "tool_code")
            return self._hold(fence, end + 1)
        if opens and end < 0 and ("tool_code".startswith(info) or "json".startswith(info)):
            if not self._ending:
                return False
            if self._cut and info and "tool_code".startswith(info):
                return self._drop_cut()
        self._plain = self._at + 1
        return None

    def _drop_cut(self) -> bool:
        """The output was cut in the first characters of what would have been a call."""
        self.output.truncated = True
        self._at = len(self._buffer)
        return True

    def _in_angle(self) -> bool:
        marker = marker_at(self._buffer, self._at)
        if not marker:
            if half_marker_at(self._buffer, self._at):
                if not self._ending:
                    return False
                if is_half(self._buffer[self._at :]):
                    self._at = len(self._buffer)
                    return True
            return self._show(self._at + 1)
        if self._code.span and (end := self._span_end(self._code.span)) != self._at:
            return end is not None and self._show(end)
        self._at += len(marker)
        if marker in CALLS:
            return self._hold(Wrapped(self._tools), self._at)
        if marker in THOUGHTS:
            self._closers = (THOUGHTS[marker],)
            self._thought_code = CodeTracker()
        self._over = marker in STOPS
        return True

    def _span_end(self, run: int) -> int | None:
        """Where the inline code in which we are ends; where we are, if it does not; None while that is open."""
        look = self._buffer[self._at : self._at + MAX_SPAN]
        line, newline, _ = look.partition("\n")
        for match in _RUN.finditer(line):
            if match.end() == len(look) and len(look) < MAX_SPAN and not self._ending:
                return None
            if len(match[0]) == run:
                return self._at + match.end()
        return self._at if newline or len(look) == MAX_SPAN or self._ending else None

    def _in_fence(self) -> bool:
        """Code that the reader sees; tokens in it are an example, unless nothing but tokens follows."""
        if self._buffer[self._at] != "<":
            match = _LINE.match(self._buffer, self._at)
            return self._show(match.end() if match is not None else self._at + 1)
        match = _TRAILING.match(self._buffer, self._at)
        end = match.end() if match is not None else self._at
        if end == len(self._buffer) or half_marker_at(self._buffer, end):
            if not self._ending:
                return False
            if match is not None or is_half(self._buffer[end:]):
                self._at = len(self._buffer)
                return True
        return self._show(max(end, self._at + 1))

    def _in_thought(self) -> bool:
        start = self._buffer.find("<", self._at)
        if start != self._at:
            end = start if start >= 0 else len(self._buffer)
            self._emit("thinking", self._buffer[self._at : end])
            self._at = end
            return True
        marker = marker_at(self._buffer, self._at)
        if not marker and half_marker_at(self._buffer, self._at):
            if not self._ending:
                return False
            if is_half(self._buffer[self._at :]):
                self._at = len(self._buffer)
                return True
        if marker in self._closers:
            self._closers = ()
        elif marker in STOPS and not self._thought_code.inside:
            self._over = True
        elif marker != PAD:
            self._emit("thinking", marker or "<")
        self._at += len(marker or "<")
        return True
