"""The functional events of a turn: what its reader sees.

They stream to the widget and the terminal as JSON objects with a ``type``. What a turn does inside is told by those
of ``observed.py``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from py_agent.model.base import Record
from py_agent.model.gate import GateRequest, GateResult
from py_agent.model.record import Source, TurnStatus

#: What a turn is doing, for a status line.
Phase = Literal["planning", "searching", "reading", "answering", "checking"]

__all__ = [
    "Addition",
    "AnswerDelta",
    "AnswerReset",
    "Event",
    "GateClosed",
    "GateFired",
    "GateOpen",
    "Navigate",
    "Phase",
    "Source",
    "Status",
    "ToolEnd",
    "ToolStart",
    "TurnEnd",
    "TurnStart",
    "TurnStatus",
]


class _Event(Record):
    """What all events share: they are values."""


class TurnStart(_Event):
    """A turn began; the reader's question is already stored, as open."""

    type: Literal["turn_start"] = "turn_start"
    turn: str
    thread: str
    question: str
    message: str


class Status(_Event):
    """What the turn is doing now, for a status line."""

    type: Literal["status"] = "status"
    phase: Phase
    detail: str = ""


class AnswerDelta(_Event):
    """The next piece of the answer's Markdown, shown while it is still a draft."""

    type: Literal["answer_delta"] = "answer_delta"
    text: str


class AnswerReset(_Event):
    """The draft was rejected: drop what ``answer_delta`` has brought so far."""

    type: Literal["answer_reset"] = "answer_reset"
    reason: str


class ToolStart(_Event):
    """A tool is about to run. ``call`` is the call's id in this turn."""

    type: Literal["tool_start"] = "tool_start"
    call: str
    tool: str
    arguments: dict[str, object]


class ToolEnd(_Event):
    """A tool has run. ``shown`` is the text that the model sees of the result, handle or inline."""

    type: Literal["tool_end"] = "tool_end"
    call: str
    tool: str
    is_error: bool
    shown: str
    ms: float


class GateFired(_Event):
    """A gate held the model's output back and sent a correction."""

    type: Literal["gate"] = "gate"
    gate: str
    reason: str


class GateOpen(_Event):
    """The turn asks its reader and waits. Answer with ``DocsAgent.resolve_gate``."""

    type: Literal["gate_open"] = "gate_open"
    gate: GateRequest


class GateClosed(_Event):
    """The reader decided, or did not in time, or the turn ended meanwhile."""

    type: Literal["gate_closed"] = "gate_closed"
    id: str
    result: GateResult
    value: bool | str | None = None


class Navigate(_Event):
    """The reader agreed to open a page. ``url`` is relative to the site's root; whoever shows the turn opens it."""

    type: Literal["navigate"] = "navigate"
    url: str
    title: str


class Addition(_Event):
    """The reader wrote something while the turn ran; the model is told before anything counts. It is stored already."""

    type: Literal["addition"] = "addition"
    text: str
    message: str


class TurnEnd(_Event):
    """A turn ended. ``answer`` is final Markdown; ``sources`` are checked; ``related`` are the best passages of a turn
    that found no answer. For ``failed``, ``error`` has ``code``, ``message`` and ``hint``."""

    type: Literal["turn_end"] = "turn_end"
    turn: str
    thread: str
    message: str
    status: TurnStatus
    answer: str
    sources: tuple[Source, ...] = ()
    related: tuple[Source, ...] = ()
    error: dict[str, str] | None = None
    dispatches: int = 0
    ms: float = 0.0


Event = Annotated[
    TurnStart
    | Status
    | AnswerDelta
    | AnswerReset
    | ToolStart
    | ToolEnd
    | GateFired
    | GateOpen
    | GateClosed
    | Addition
    | Navigate
    | TurnEnd,
    Field(discriminator="type"),
]
