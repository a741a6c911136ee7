"""The control tokens of the dialects we read, by what they do to a stream."""

from __future__ import annotations

import re

from py_agent.prompt.dialects import gemma4

#: Filler tokens in a row after which the output counts as broken: some GPUs produce nothing else for ever.
MAX_PADS = 64

PAD = "<pad>"
#: What opens and closes a thought.
THOUGHTS = {gemma4.CHANNEL: gemma4.CHANNEL_END, "<think>": "</think>"}
#: What opens a call; either end closes either.
CALLS = (gemma4.CALL, "<tool_call>")
CALL_ENDS = (gemma4.CALL_END, "</tool_call>")
#: What ends the model's turn. Anything behind it would be the model playing another role.
STOPS = (
    gemma4.TURN_END,
    gemma4.TURN,
    gemma4.RESPONSE,
    "<tool_response>",
    "<eos>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
)
#: Markers that never belong in what a reader sees and mean nothing by themselves.
STRAY = (
    PAD,
    "<bos>",
    *CALL_ENDS,
    *THOUGHTS.values(),
    gemma4.RESPONSE_END,
    "</tool_response>",
    gemma4.TOOL_END,
    gemma4.THINK,
)
#: All of them; no one is the beginning of another.
MARKERS = (*CALLS, *THOUGHTS, *STOPS, *STRAY)

#: Half a marker at the end of an output is dropped from this many characters on. A shorter one may well be prose: the
#: beginning of ``<pad>`` is also the beginning of ``<p>``.
MIN_HALF = 5

_MARKER = re.compile("|".join(map(re.escape, MARKERS)) + r"|<unused\d{1,4}>")
_UNUSED = re.compile(r"<(?:u(?:n(?:u(?:s(?:e(?:d\d{0,4})?)?)?)?)?)?")
_LONGEST = max(map(len, MARKERS))


def marker_at(text: str, at: int) -> str:
    """The marker that stands at ``at``; empty if none does."""
    match = _MARKER.match(text, at)
    return match[0] if match is not None else ""


def half_marker_at(text: str, at: int) -> bool:
    """Whether what is left of ``text`` from ``at`` on could become a marker."""
    if len(text) - at >= _LONGEST:
        return False
    rest = text[at:]
    return any(marker.startswith(rest) for marker in MARKERS) or _UNUSED.fullmatch(rest) is not None


def is_half(rest: str) -> bool:
    """Whether ``rest``, the end of an output, is so much of a marker that it is dropped."""
    return half_marker_at(rest, 0) and (rest.startswith("<|") or len(rest) >= MIN_HALF)


_FILLER = re.compile(r"\s*<(?:pad|unused\d{1,4})>")
_HALF_FILLER = re.compile(r"\s*(?:<(?:p(?:ad?)?|u(?:n(?:u(?:s(?:e(?:d\d{0,4})?)?)?)?)?)?)?")


class FillerCounter:
    """Counts filler tokens in a row, wherever they stand: in text, in a thought, in a call, in a string."""

    def __init__(self) -> None:
        self._count = 0
        self._rest = ""

    def feed(self, chunk: str) -> int | None:
        """None, or how much of ``chunk`` was needed to reach ``MAX_PADS``."""
        if not self._rest and "<" not in chunk:
            if chunk.strip():
                self._count = 0
            return None
        text = self._rest + chunk
        before = len(self._rest)
        at = 0
        while at < len(text):
            match = _FILLER.match(text, at)
            if match is not None:
                at = match.end()
                self._count += 1
                if self._count >= MAX_PADS:
                    return max(0, at - before)
                continue
            if _HALF_FILLER.fullmatch(text, at):
                break
            self._count = 0
            found = text.find("<", at + 1)
            at = found if found >= 0 else len(text)
        self._rest = text[at:].lstrip()
        return None
