"""The one signature that everything in a pipeline has, and what a runner is handed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from py_agent.model.base import Record
from py_agent.runner.events import Event

ContextT = TypeVar("ContextT")

#: Runs the rest of the pipeline. A middleware that does not call it stops the pipeline.
Next = Callable[[], Awaitable[None]]

#: A step of a pipeline: does something, calls ``next`` once, does something more.
Middleware = Callable[[ContextT, Next], Awaitable[None]]

#: Takes the functional events of a turn, in order. It must not block; what it raises is a programming error.
Emit = Callable[[Event], None]

#: Takes the observability events of a turn, in order. It must not block; what it raises is told to the other listeners.
Observe = Callable[[Record], None]
