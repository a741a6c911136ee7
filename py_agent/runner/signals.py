"""How a dispatch ends: one signal, given once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from py_agent.model.errors import AgentError

Signal = Literal["ack", "nack", "abort"]


class AlreadySignalled(AgentError):
    """A second signal was given. A dispatch ends once: two policies disagree about it, which is a programming error."""

    code = "already_signalled"


class Signals:
    """The signal of one dispatch: ``ack`` (its outcome counts), ``nack`` (it failed), ``abort`` (it was refused)."""

    def __init__(self) -> None:
        self.signal: Signal | None = None
        self.error: AgentError | None = None
        self.reason = ""
        #: What handlers of ``on_ack`` have raised, with their names: they cannot undo an ack.
        self.hook_errors: list[tuple[str, Exception]] = []
        self._on_ack: list[Callable[[], None]] = []

    def on_ack(self, handler: Callable[[], None]) -> Callable[[], None]:
        """Calls ``handler`` when the dispatch is acked, in the order of subscription; never after a nack or abort.

        Returns:
            What ends the subscription.
        """
        self._on_ack.append(handler)

        def off() -> None:
            if handler in self._on_ack:
                self._on_ack.remove(handler)

        return off

    @property
    def signalled(self) -> bool:
        """Whether the dispatch has its signal; the step that runs goes on to its end."""
        return self.signal is not None

    def ack(self) -> None:
        """The dispatch did what it should.

        Raises:
            AlreadySignalled: It has a signal already.
        """
        self._give("ack")
        for handler in tuple(self._on_ack):
            try:
                handler()
            except Exception as error:
                self.hook_errors.append((getattr(handler, "__qualname__", type(handler).__name__), error))

    def nack(self, error: AgentError) -> None:
        """The dispatch failed with ``error``.

        Raises:
            AlreadySignalled: It has a signal already.
        """
        self._give("nack")
        self.error = error

    def abort(self, reason: str) -> None:
        """The dispatch was refused on purpose.

        Raises:
            AlreadySignalled: It has a signal already.
        """
        self._give("abort")
        self.reason = reason

    def _give(self, signal: Signal) -> None:
        if self.signal is not None:
            raise AlreadySignalled(
                f"The dispatch was already ended by {self.signal}; {signal} came after it.",
                hint="Only one step may end a dispatch: check `signals.signalled` first.",
            )
        self.signal = signal
