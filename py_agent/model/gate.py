"""A turn gate: a question that a turn puts to the reader while it runs, and what came of it."""

from __future__ import annotations

from typing import Literal

from py_agent.model.base import Record

#: Seconds that a reader has to decide. Long enough to read and think; a turn that waits longer was left alone.
GATE_TIMEOUT_S = 120.0

#: ``approve``: may this be done? ``ask``: a question that the model wants answered.
GateKind = Literal["approve", "ask"]

#: ``resolved``: the reader decided. ``timeout``: nobody did in time. ``aborted``: the turn ended meanwhile, or there is
#: nobody who could be asked.
GateResult = Literal["resolved", "timeout", "aborted"]


class GateRequest(Record):
    """What is asked.

    Attributes:
        id: Unique in its turn.
        kind: See ``GateKind``.
        tool: Name of the tool that asks.
        text: The question in plain words, for the reader. Data: it is never rendered as Markdown or HTML.
        detail: What exactly would be done (an address, the arguments); plain text.
        choices: Answers that are offered for ``ask``; empty: free text.
        timeout_s: Seconds after which the default decides.
    """

    id: str
    kind: GateKind
    tool: str
    text: str
    detail: str = ""
    choices: tuple[str, ...] = ()
    timeout_s: float = GATE_TIMEOUT_S


class GateAnswer(Record):
    """What came of it. ``value`` is True or False for ``approve``, text for ``ask``; None where nobody decided."""

    result: GateResult
    value: bool | str | None = None

    @property
    def approved(self) -> bool:
        """Whether the reader said yes."""
        return self.result == "resolved" and self.value is True
