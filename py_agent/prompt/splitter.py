"""Splits a stream of a model's text into what the reader may see, what the model thought, and the calls it made.

Markers may be cut anywhere between two chunks. Only as much is held back as could still be the start of a marker, or of
a call that stands without one; what is decided does not depend on how the stream was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from py_agent.model.prompt import ToolSpec
from py_agent.prompt.code_spans import CodeTracker
from py_agent.prompt.dialects import gemma4
from py_agent.prompt.held import Held, HeldFence, HeldRest
from py_agent.prompt.output import Output, Piece
from py_agent.prompt.parsers.bare import BareCall
from py_agent.prompt.parsers.base import BadCall, Found, Tools
from py_agent.prompt.parsers.heads import judge
from py_agent.prompt.parsers.json_call import json_calls
from py_agent.prompt.parsers.native import parse_call

__all__ = ["MAX_PADS", "Output", "Piece", "StreamSplitter"]

#: Filler tokens in a row after which the output counts as broken: some GPUs produce nothing else for ever.
MAX_PADS = 64

#: Times that text which was held back until the end is looked at again for a call: an output that goes on like that has
#: none.
MAX_RELEASES = 8

_PAD = "<pad>"
_THOUGHTS = {gemma4.CHANNEL: gemma4.CHANNEL_END, "<think>": "</think>"}
#: A call as JSON between marks, as chatml models are trained to write it.
_JSON_CALL, _JSON_CALL_END = "<tool_call>", "</tool_call>"
#: What ends the model's turn. Anything behind it would be the model playing another role.
_STOPS = (
    gemma4.TURN_END,
    gemma4.TURN,
    gemma4.RESPONSE,
    "<eos>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<tool_response>",
)
#: Markers that never belong in what a reader sees and mean nothing by themselves.
_STRAY = (
    _PAD,
    "<bos>",
    gemma4.CALL_END,
    gemma4.CHANNEL_END,
    gemma4.RESPONSE_END,
    gemma4.TOOL_END,
    gemma4.THINK,
    _JSON_CALL_END,
    "</tool_response>",
)
_IN_TEXT = (gemma4.CALL, _JSON_CALL, *_THOUGHTS, *_STOPS, *_STRAY)
_TEXT_ENDS = re.compile(r"[<\n]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONE = re.compile("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")

State = Literal["text", "head", "held", "thought", "call", "bare", "json", "done"]


class StreamSplitter:
    """Feed it chunks, then ``finish`` it.

    Args:
        tools: The tools that may be called: what stands without marks is a call only of one of them.
        start_in_thought: Whether the prompt has opened the model's thoughts already.
    """

    def __init__(self, tools: Iterable[ToolSpec] = (), *, start_in_thought: bool = False) -> None:
        self.output = Output()
        self._tools = Tools(tools)
        self._state: State = "thought" if start_in_thought else "head"
        self._close = gemma4.CHANNEL_END if start_in_thought else ""
        self._pending = ""
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._code = CodeTracker()
        self._pads = 0
        self._head = ""
        self._held: Held | None = None
        self._releases = 0
        self._call: list[str] = []
        self._quoted = False
        self._bare: BareCall | None = None
        self._number = -1
        self._half = ""
        self._steps = {
            "text": self._in_text,
            "head": self._in_head,
            "held": self._in_held,
            "thought": self._in_thought,
            "call": self._in_call,
            "bare": self._in_bare,
            "json": self._in_json,
        }

    @property
    def done(self) -> bool:
        """The model's turn is over: what comes now is not its own."""
        return self._state == "done" or self.output.degenerate

    def feed(self, chunk: str) -> list[Piece]:
        """Takes the next chunk; gives back what it makes certain, in order."""
        self._pending += self._whole_characters(chunk)
        pieces: list[Piece] = []
        self._work(pieces)
        return pieces

    def finish(self, reason: str = "stop") -> Output:
        """The whole output. ``reason`` is the engine's: with ``length``, an open call was cut and never counts."""
        pieces: list[Piece] = []
        while not self.done:
            self._work(pieces)
            if not self._end_state(pieces, cut=reason == "length"):
                break
        output = self.output
        if reason == "length" and not output.calls:
            output.truncated = True
        output.text = "".join(self._text).strip()
        thinking = "".join(self._thinking).strip()
        output.thinking = thinking.removeprefix("thought\n").strip() if thinking != "thought" else ""
        return output

    def _whole_characters(self, chunk: str) -> str:
        """``chunk`` without half characters: engines that count in UTF-16 cut an emoji in two."""
        chunk, self._half = self._half + chunk, ""
        if not _SURROGATE.search(chunk):
            return chunk
        if "\ud800" <= chunk[-1] <= "\udbff":
            chunk, self._half = chunk[:-1], chunk[-1]
        return _LONE.sub("", chunk).encode("utf-16", "surrogatepass").decode("utf-16")

    def _work(self, pieces: list[Piece]) -> None:
        while self._pending and not self.done:
            if not self._steps[self._state](pieces):
                break
        if self.done:
            self._pending = ""

    # Each step takes what it can from the front of the pending text; False: it needs more.

    def _in_head(self, pieces: list[Piece]) -> bool:
        """At the start of a line: it may become a call without marks, or is text."""
        if self._code.fenced or (not self._head and self._pending[0] in "<\n"):
            self._state = "text"
            return True
        for at, char in enumerate(self._pending, start=1):
            verdict = "text" if char == "<" else judge(self._head + char, self._tools)
            if verdict == "hold":
                self._head += char
                continue
            self._pending = self._head + self._pending[at - 1 :]
            length = len(self._head) + 1
            self._head = ""
            if verdict == "text":
                self._state = "text"
            elif verdict == "call":
                self._number += 1
                self._bare = BareCall()
                self._state = "bare"
            else:
                start, self._pending = self._pending[:length], self._pending[length:]
                self._held = HeldFence(start) if verdict == "fence" else HeldRest(start, self._tools)
                self._state = "held"
            return True
        self._pending = ""
        return False

    def _in_held(self, pieces: list[Piece]) -> bool:
        assert self._held is not None
        rest = self._held.feed(self._pending)
        if rest is None:
            self._pending = ""
            return False
        held, self._held = self._held, None
        self._pending = rest
        self._settle(held, cut=False)
        return True

    def _settle(self, held: Held, *, cut: bool) -> None:
        """What was held back is calls, or was cut, or is text after all."""
        found = held.calls(self._tools)
        self._state = "head"
        if found is not None:
            self._take(found)
        elif cut and held.is_call:
            self.output.truncated = True
        else:
            self._pending = held.text + self._pending
            self._state = "text"

    def _take(self, found: Found) -> None:
        self.output.calls += found.calls
        for name, why in found.rejected:
            self.output.rejected.append(name)
            self.output.bad_calls.append(f"{name}: {why}")

    def _in_text(self, pieces: list[Piece]) -> bool:
        match = _TEXT_ENDS.search(self._pending)
        if match is None:
            self._emit(self._pending, pieces)
            self._pending = ""
            return True
        if match.start() or match[0] == "\n":
            end = match.end() if match[0] == "\n" else match.start()
            self._emit(self._pending[:end], pieces)
            self._pending = self._pending[end:]
            if match[0] == "\n":
                self._state = "head"
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
        self._mark(marker)
        return True

    def _mark(self, marker: str) -> None:
        if marker in (gemma4.CALL, _JSON_CALL):
            self._state = "call" if marker == gemma4.CALL else "json"
            self._call, self._quoted = [], False
            self._number += 1
        elif marker in _THOUGHTS:
            self._state, self._close = "thought", _THOUGHTS[marker]
        elif marker in _STOPS:
            self._state = "done"
        elif marker == _PAD:
            self._pads += 1
            self.output.degenerate = self._pads >= MAX_PADS

    def _emit(self, text: str, pieces: list[Piece]) -> None:
        self._code.feed(text)
        self._text.append(text)
        pieces.append(Piece("text", text))

    def _after_mark(self) -> None:
        """Text goes on behind a thought or a call: where nothing stands on the line yet, a call may."""
        self._state = "text" if self._code.line.strip() else "head"

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
        self._after_mark()
        return True

    def _in_call(self, pieces: list[Piece]) -> bool:
        """Moves to the next quote or end marker; inside a quoted string the end marker is just text."""
        markers = (gemma4.QUOTE,) if self._quoted else (gemma4.QUOTE, gemma4.CALL_END)
        found = min(
            ((self._pending.find(marker), marker) for marker in markers if marker in self._pending), default=None
        )
        if found is None:
            keep = min(_safe(self._pending, marker) for marker in markers)
            self._add_to_call(self._pending[:keep], pieces)
            self._pending = self._pending[keep:]
            return False
        at, marker = found
        self._add_to_call(self._pending[:at], pieces)
        self._pending = self._pending[at + len(marker) :]
        if marker == gemma4.QUOTE:
            self._call.append(marker)
            self._quoted = not self._quoted
            return True
        self._end_call(complete=True, cut=False)
        self._after_mark()
        return True

    def _add_to_call(self, text: str, pieces: list[Piece]) -> None:
        if text:
            self._call.append(text)
            pieces.append(Piece("call", text, self._number, self._quoted))

    def _end_call(self, *, complete: bool, cut: bool) -> None:
        if not complete and cut:
            self.output.truncated = True
            return
        try:
            self.output.calls.append(parse_call("".join(self._call)))
        except BadCall as error:
            if complete:
                self.output.bad_calls.append(str(error))
            else:
                self.output.truncated = True

    def _in_bare(self, pieces: list[Piece]) -> bool:
        """A native call whose marks the decoder took away: it ends with its brace."""
        assert self._bare is not None
        before = self._bare.size
        rest = self._bare.feed(self._pending)
        for text, quoted in self._bare.new(before):
            pieces.append(Piece("call", text, self._number, quoted))
        if rest is None:
            self._pending = ""
            return False
        self._pending = rest
        self._call = [self._bare.text]
        self._end_call(complete=True, cut=False)
        self._after_mark()
        return True

    def _in_json(self, pieces: list[Piece]) -> bool:
        end = self._pending.find(_JSON_CALL_END)
        if end < 0:
            keep = _safe(self._pending, _JSON_CALL_END)
            self._call.append(self._pending[:keep])
            self._pending = self._pending[keep:]
            return False
        self._call.append(self._pending[:end])
        self._pending = self._pending[end + len(_JSON_CALL_END) :]
        self._end_json(complete=True, cut=False)
        self._after_mark()
        return True

    def _end_json(self, *, complete: bool, cut: bool) -> None:
        text = "".join(self._call)
        found = None if cut and not complete else json_calls(text, None)
        if found is not None:
            self._take(found)
        elif complete:
            self._end_call(complete=True, cut=False)
        else:
            self.output.truncated = True

    def _end_state(self, pieces: list[Piece], *, cut: bool) -> bool:
        """Settles what is open at the end of the stream; whether there is text to look at again."""
        rest, self._pending = self._pending, ""
        if self._state == "head" and self._head:
            self._pending, self._head, self._state = self._head + rest, "", "text"
            return True
        if self._state == "held" and self._held is not None:
            held, self._held = self._held, None
            held.feed(rest)
            self._releases += 1
            self._settle(held, cut=cut)
            if self._releases > MAX_RELEASES:
                self._emit(self._pending, pieces)
                self._pending = ""
            return bool(self._pending)
        if self._state in ("text", "head") and not any(marker.startswith(rest) for marker in _IN_TEXT if len(rest) > 1):
            self._emit(rest, pieces)
        elif self._state == "thought":
            self._thinking.append(rest)
        elif self._state == "call":
            self._call.append(rest)
            self._end_call(complete=False, cut=cut)
        elif self._state == "json":
            self._call.append(rest)
            self._end_json(complete=False, cut=cut)
        elif self._state == "bare" and self._bare is not None:
            self._call = [self._bare.text]
            self._end_call(complete=False, cut=cut)
        return False


def _safe(text: str, marker: str) -> int:
    """How much of ``text`` cannot be the start of ``marker``."""
    for size in range(min(len(marker) - 1, len(text)), 0, -1):
        if text.endswith(marker[:size]):
            return len(text) - size
    return len(text)
