"""What a gate is, and how one holds a completion back."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import Field

from py_agent.model.base import Record
from py_agent.model.errors import AgentError
from py_agent.model.thought import Thought
from py_agent.model.tokenizable import Tokenizable
from py_agent.prompt.wording import wording
from py_agent.runner.contexts import DispatchContext
from py_agent.runner.events import GateFired


class Held(Record):
    """A gate's verdict that a completion must not count.

    Attributes:
        reason: For the trace and the status line.
        nudge: Template of the correction: a directive and a first-person thought. It gets ``times``, how often this
            gate has corrected before, so that no correction comes twice in the same words, and ``values``.
        values: What the template needs besides.
    """

    reason: str
    nudge: str
    values: dict[str, Any] = Field(default_factory=dict)


class Gate(Protocol):
    """Looks at one completion. Gates are deterministic and call no model; long ones breathe."""

    name: str

    async def check(self, context: DispatchContext) -> Held | None:
        """None: the completion may pass."""
        ...


def hold(context: DispatchContext, gate: str, held: Held) -> None:
    """Sends a correction. It lives in this turn's conversation only and is never stored."""
    times = context.correct(gate)
    text = wording(held.nudge, times=times, **held.values)
    context.turn.emit(GateFired(gate=gate, reason=held.reason))
    context.drop_draft(held.reason)
    if context.proposal is not None:
        settle(context, text)
    else:
        nudge = Thought(id=f"nudge-{gate}-{times}", kind="nudge", content=Tokenizable(text))
        context.conversation.thought(nudge)


def settle(context: DispatchContext, text: str) -> None:
    """Gives the terminal call of this iteration its result.

    Raises:
        AgentError: There is no such call: a programming error.
    """
    if context.proposal is None:
        raise AgentError("There is no terminal call to settle.", hint="Check `context.proposal` first.")
    context.conversation.tool(context.proposal.tool, text)
