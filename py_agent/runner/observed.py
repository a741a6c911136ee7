"""The events of the observability bus: what a turn does inside. The trace keeps them; no answer depends on them.

A *dispatch* is one run of the model loop (the planner's, the worker's), an *iteration* one pass through its pipelines,
a *request* one completion that the engine was asked for.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from py_agent.model.base import Record

#: Who a request is made for.
Purpose = Literal["planner", "worker"]


#: How a run of the model loop ended: its signal, an error without one, or a stop.
DispatchStatus = Literal["ack", "nack", "abort", "error", "cancelled"]


class DispatchStart(Record):
    """A run of the model loop begins."""

    type: Literal["dispatch_start"] = "dispatch_start"
    purpose: Purpose


class DispatchEnd(Record):
    """A run of the model loop has ended. ``code`` is that of the error that ended it, if one did.

    ``iterations`` counts those that ran to their end; ``ms`` is wall time.
    """

    type: Literal["dispatch_end"] = "dispatch_end"
    purpose: Purpose
    status: DispatchStatus
    code: str = ""
    reason: str = ""
    iterations: int
    ms: float


class IterationStart(Record):
    """A pass through the pipelines begins; ``iteration`` counts from 0."""

    type: Literal["iteration_start"] = "iteration_start"
    purpose: Purpose
    iteration: int


class IterationEnd(Record):
    """A pass has ended. ``allowed`` names the tools that could be called in it."""

    type: Literal["iteration_end"] = "iteration_end"
    purpose: Purpose
    iteration: int
    allowed: tuple[str, ...] = ()
    ms: float


class RequestStart(Record):
    """The engine is asked. ``prompt`` is the exact text, rendered in the engine's dialect; ``number`` counts from 1."""

    type: Literal["request_start"] = "request_start"
    number: int
    purpose: Purpose
    prompt: str
    prompt_tokens: int


class RequestEnd(Record):
    """The engine has ended, or was stopped. ``completion`` is what it sent, byte for byte."""

    type: Literal["request_end"] = "request_end"
    number: int
    purpose: Purpose
    completion: str
    status: Literal["stop", "length", "cancelled", "error"]
    code: str = ""


class GenerationStats(Record):
    """What a request cost. Tokens are the engine's own count where it has one, else ``estimated``.

    ``first_ms``: to the first chunk; None where none came. ``ms``: to the last, the harness's own work in between
    included.
    """

    type: Literal["generation_stats"] = "generation_stats"
    number: int
    prompt_tokens: int
    output_tokens: int
    estimated: bool
    first_ms: float | None
    ms: float


class Log(Record):
    """Something that a person who looks into a turn may want to know."""

    type: Literal["log"] = "log"
    level: Literal["debug", "info", "warning", "error"]
    kind: str
    message: str
    payload: dict[str, Any] = Field(default_factory=dict)
