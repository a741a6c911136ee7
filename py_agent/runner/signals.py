"""How a dispatch ends: one signal, given once."""

from __future__ import annotations

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
