"""The two buses of an agent: the functional one, which readers see, and the observability one, which only looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from py_agent.model.base import Record

EventT = TypeVar("EventT", bound=Record)

#: Takes one event. It must not block.
Handler = Callable[[EventT], None]
#: Ends a subscription. Calling it twice is allowed.
Unsubscribe = Callable[[], None]


class Bus(Generic[EventT]):
    """Hands each event to every subscriber, in the order in which they subscribed.

    What a subscriber raises goes on to whoever emitted: on the functional bus it is a programming error, and an answer
    that half of the page has not seen must not count.
    """

    def __init__(self) -> None:
        self._handlers: list[tuple[str | None, Handler[EventT]]] = []

    def on(self, handler: Handler[EventT], type: str | None = None) -> Unsubscribe:
        """Subscribes ``handler`` to the events whose ``type`` is this; None: to all of them."""
        entry = (type, handler)
        self._handlers.append(entry)

        def off() -> None:
            if entry in self._handlers:
                self._handlers.remove(entry)

        return off

    def emit(self, event: EventT) -> None:
        """Hands ``event`` out. A handler that subscribes or unsubscribes meanwhile does so for the next event."""
        kind = getattr(event, "type", None)
        for wanted, handler in tuple(self._handlers):
            if wanted is None or wanted == kind:
                self._call(handler, event)

    def _call(self, handler: Handler[EventT], event: EventT) -> None:
        handler(event)


class ListenerFailed(Record):
    """A listener of the observability bus raised. It goes on getting events; the turn never notices."""

    type: Literal["listener_failed"] = "listener_failed"
    listener: str
    event: str
    error: str


class ObservabilityBus(Bus[Record]):
    """A bus whose listeners cannot break what they look at: what one raises is an event for the others."""

    def _call(self, handler: Handler[Record], event: Record) -> None:
        try:
            handler(event)
        except Exception as error:
            if isinstance(event, ListenerFailed):
                return  # it was told of a failure and failed at that: there is nobody left to tell
            name = getattr(handler, "__qualname__", type(handler).__name__)
            kind = str(getattr(event, "type", type(event).__name__))
            told = ListenerFailed(listener=name, event=kind, error=f"{type(error).__name__}: {error}")
            for wanted, other in tuple(self._handlers):
                if other is not handler and wanted in (None, told.type):
                    self._call(other, told)
