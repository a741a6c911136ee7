"""The lines of a trace: how a prompt is told by what it shares with an earlier one, and how lines are read back.

A trace is JSON Lines in UTF-8. Each line has its kind in ``k``:

- ``turn``: the first line. What the turn was given: question, page, history, configuration, engine.
- ``event``: an event of either bus. A prompt in it is told as ``{"of", "keep", "add"}``: the first ``keep`` characters
  of prompt number ``of`` of this trace, then ``add``. Prompts of a turn extend one another: each is stored once.
- ``nonce``, ``search``, ``passage``, ``page``, ``pages``, ``missing``, ``clock``, ``offset``, ``memories``, ``recall``,
  ``count``, ``standing``, ``tools``, ``tool``: what came in through a boundary, in order.
- ``chunks``: what the engine streamed, as it came; ``engine_error``: what it raised instead.
"""

from __future__ import annotations

import json
from typing import Any

from py_agent.model.errors import AgentError
from py_agent.model.safe_json import loads

#: Version of the format, in the first line. A reader refuses a newer one.
VERSION = 1

#: Characters that two prompts must share before the second is told by the first: below it the reference costs more.
MIN_SHARED_CHARS = 64


class TraceError(AgentError):
    """A trace cannot be read. Codes: ``trace_damaged``, ``trace_newer``."""

    code = "trace_damaged"


def shared_chars(first: str, second: str) -> int:
    """Characters that two texts have in common from the front: by halves, since comparing slices is what is fast."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class PromptWriter:
    """Tells each prompt of a trace by the earlier one that it shares most with."""

    def __init__(self) -> None:
        self._prompts: list[str] = []

    def shorten(self, prompt: str) -> dict[str, Any]:
        """``prompt`` as it stands in a line."""
        of, keep = 0, 0
        # The newest first: the next prompt nearly always extends it, and equal lengths then prefer it.
        for number in range(len(self._prompts) - 1, -1, -1):
            shared = shared_chars(self._prompts[number], prompt)
            if shared > keep:
                of, keep = number, shared
            if keep == len(self._prompts[number]):
                break
        if keep < MIN_SHARED_CHARS:
            of, keep = 0, 0
        self._prompts.append(prompt)
        return {"of": of, "keep": keep, "add": prompt[keep:]}


class PromptReader:
    """Gives the prompts of a trace back whole."""

    def __init__(self) -> None:
        self._prompts: list[str] = []

    def restore(self, told: dict[str, Any]) -> str:
        """The prompt that ``told`` stands for.

        Raises:
            TraceError: It refers to a prompt that is not there.
        """
        keep = int(told["keep"])
        if keep and not (0 <= int(told["of"]) < len(self._prompts)):
            raise TraceError("A prompt refers to one that is not in the trace.", hint="The file was cut in front.")
        before = self._prompts[int(told["of"])][:keep] if keep else ""
        prompt = before + str(told["add"])
        self._prompts.append(prompt)
        return prompt


def encode(line: dict[str, Any]) -> bytes:
    """One line, with its line feed. Lone surrogates, which a broken engine may send, are kept as escapes."""
    try:
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def decode(data: bytes) -> list[dict[str, Any]]:
    """The lines of a trace, prompts whole. A last line without its line feed was cut by a kill and is left out.

    Raises:
        TraceError: A line is no JSON object, the first is no ``turn`` line, or its version is newer.
    """
    prompts = PromptReader()
    lines: list[dict[str, Any]] = []
    for number, raw in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            line = loads(raw)
            kind = line["k"]
            if not isinstance(kind, str) or (kind == "event" and not isinstance(line["event"]["type"], str)):
                raise TypeError("it does not say what it is")
            if kind == "event" and isinstance(line["event"].get("prompt"), dict):
                line["event"]["prompt"] = prompts.restore(line["event"]["prompt"])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise TraceError(f"Line {number} of the trace cannot be read: {error}.", hint="Export it again.") from error
        if number == 1:
            _check_head(line)
        lines.append(line)
    if not lines:
        raise TraceError("The trace is empty.", hint="Its turn was ended before anything was written.")
    return lines


def _check_head(line: dict[str, Any]) -> None:
    if line.get("k") != "turn" or not isinstance(line.get("v"), int):
        raise TraceError("This is no trace: its first line does not tell of a turn.", hint="Name a .jsonl trace.")
    if line["v"] > VERSION:
        raise TraceError(
            f"The trace has format {line['v']}, this version reads up to {VERSION}.",
            hint="Update py-agent.",
            code="trace_newer",
        )
