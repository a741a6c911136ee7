"""Splits a stream of Gemma text into what the reader may see, what the model thought, and the calls it made.

Markers may be cut anywhere between two chunks. Only as much is held back as could still be the start of a marker.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from py_agent.model.prompt import CallSpec
from py_agent.prompt.calls import BadCall, parse_call
from py_agent.prompt.code_spans import CodeTracker
from py_agent.prompt.dialects import gemma4

#: Filler tokens in a row after which the output counts as broken: some GPUs produce nothing else for ever.
MAX_PADS = 64

_PAD = "<pad>"
_THOUGHTS = {gemma4.CHANNEL: gemma4.CHANNEL_END, "<think>": "</think>"}
#: What ends the model's turn. Anything behind it would be the model playing another role.
_STOPS = (gemma4.TURN_END, gemma4.TURN, gemma4.RESPONSE, "<eos>", "<end_of_turn>", "<start_of_turn>")
#: Markers that never belong in what a reader sees and mean nothing by themselves.
_STRAY = (_PAD, "<bos>", gemma4.CALL_END, gemma4.CHANNEL_END, gemma4.RESPONSE_END, gemma4.TOOL_END, gemma4.THINK)
_IN_TEXT = (gemma4.CALL, *_THOUGHTS, *_STOPS, *_STRAY)

State = Literal["text", "thought", "call", "done"]


@dataclass
class Piece:
    """What became certain: ``text`` for the reader, ``thinking``, or the ``call`` text that has arrived so far.

    ``number`` tells the calls of one output apart, counted from 0.
    """

    kind: Literal["text", "thinking", "call"]
    text: str
    number: int = 0


@dataclass
class Output:
    """A completion, taken apart.

    Attributes:
        text: What the reader may see, stripped.
        thinking: The model's thoughts, without their label.
        calls: Complete calls, in order.
        bad_calls: For each call that could not be parsed, why.
        truncated: The token limit cut the output, or it ends inside a call: that call was not taken.
        degenerate: The model wrote filler tokens only.
    """

    text: str = ""
    thinking: str = ""
    calls: list[CallSpec] = field(default_factory=list)
    bad_calls: list[str] = field(default_factory=list)
    truncated: bool = False
    degenerate: bool = False


class StreamSplitter:
    """Feed it chunks, then ``finish`` it."""

    def __init__(self) -> None:
        self.output = Output()
        self._state: State = "text"
        self._pending = ""
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._close = ""
        self._code = CodeTracker()
        self._pads = 0
        self._inside_string = False
        self._call = ""
        self._number = -1

    @property
    def done(self) -> bool:
        """The model's turn is over: what comes now is not its own."""
        return self._state == "done" or self.output.degenerate

    def feed(self, chunk: str) -> list[Piece]:
        """Takes the next chunk; gives back what it makes certain, in order."""
        self._pending += chunk
        pieces: list[Piece] = []
        while self._pending and not self.done:
            step = {"text": self._in_text, "thought": self._in_thought, "call": self._in_call}[self._state]
            if not step(pieces):
                break
        if self.done:
            self._pending = ""
        return pieces

    def finish(self, reason: str = "stop") -> Output:
        """The whole output. ``reason`` is the engine's: with ``length``, an open call was cut and never counts."""
        rest, self._pending = self._pending, ""
        if self._state == "text" and not rest.startswith(("<|", gemma4.CALL_END[:4])):
            self._text.append(rest)
        elif self._state == "thought":
            self._thinking.append(rest)
        elif self._state == "call":
            self._call += rest
            self._end_call(complete=False, reason=reason)
        output = self.output
        if reason == "length" and not output.calls:
            output.truncated = True
        output.text = "".join(self._text).strip()
        thinking = "".join(self._thinking).strip()
        output.thinking = thinking.removeprefix("thought\n").strip() if thinking != "thought" else ""
        return output

    # Each step takes what it can from the front of the pending text; False: it needs more.

    def _in_text(self, pieces: list[Piece]) -> bool:
        start = self._pending.find("<")
        if start != 0:
            self._emit(self._pending if start < 0 else self._pending[:start], pieces)
            self._pending = "" if start < 0 else self._pending[start:]
            return True
        marker = next((marker for marker in _IN_TEXT if self._pending.startswith(marker)), None)
        if marker is None:
            if any(marker.startswith(self._pending) for marker in _IN_TEXT):
                return False
            self._emit("<", pieces)
            self._pending = self._pending[1:]
            return True
        if self._code.inside:
            self._emit(marker, pieces)
            self._pending = self._pending[len(marker) :]
            return True
        self._pending = self._pending[len(marker) :]
        if marker == gemma4.CALL:
            self._state, self._call, self._inside_string = "call", "", False
            self._number += 1
        elif marker in _THOUGHTS:
            self._state, self._close = "thought", _THOUGHTS[marker]
        elif marker in _STOPS:
            self._state = "done"
        elif marker == _PAD:
            self._pads += 1
            self.output.degenerate = self._pads >= MAX_PADS
        return True

    def _emit(self, text: str, pieces: list[Piece]) -> None:
        self._code.feed(text)
        self._text.append(text)
        pieces.append(Piece("text", text))

    def _in_thought(self, pieces: list[Piece]) -> bool:
        end = self._pending.find(self._close)
        taken = self._pending[: end if end >= 0 else _safe(self._pending, self._close)]
        if taken:
            self._thinking.append(taken)
            pieces.append(Piece("thinking", taken))
        if end < 0:
            self._pending = self._pending[len(taken) :]
            return False
        self._pending = self._pending[end + len(self._close) :]
        self._state = "text"
        return True

    def _in_call(self, pieces: list[Piece]) -> bool:
        """Moves to the next quote or end marker; inside a quoted string the end marker is just text."""
        markers = (gemma4.QUOTE,) if self._inside_string else (gemma4.QUOTE, gemma4.CALL_END)
        found = min(
            ((self._pending.find(marker), marker) for marker in markers if marker in self._pending), default=None
        )
        if found is None:
            keep = min(_safe(self._pending, marker) for marker in markers)
            self._call += self._pending[:keep]
            self._pending = self._pending[keep:]
            pieces.append(Piece("call", self._call, self._number))
            return False
        at, marker = found
        if marker == gemma4.QUOTE:
            self._inside_string = not self._inside_string
            self._call += self._pending[: at + len(marker)]
            self._pending = self._pending[at + len(marker) :]
            pieces.append(Piece("call", self._call, self._number))
            return True
        self._call += self._pending[:at]
        self._pending = self._pending[at + len(marker) :]
        self._end_call(complete=True, reason="stop")
        self._state = "text"
        return True

    def _end_call(self, *, complete: bool, reason: str) -> None:
        if not complete and reason != "stop":
            self.output.truncated = True
            return
        try:
            self.output.calls.append(parse_call(self._call))
        except BadCall as error:
            if complete:
                self.output.bad_calls.append(str(error))
            else:
                self.output.truncated = True


def _safe(text: str, marker: str) -> int:
    """How much of ``text`` cannot be the start of ``marker``."""
    for size in range(min(len(marker) - 1, len(text)), 0, -1):
        if text.endswith(marker[:size]):
            return len(text) - size
    return len(text)
