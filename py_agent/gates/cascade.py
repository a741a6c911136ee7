"""The gates in their order. The first that holds decides; behind the last stands the terminator."""

from __future__ import annotations

from collections.abc import Sequence

from py_agent.gates.additions import UntoldAdditions
from py_agent.gates.base import Gate, hold
from py_agent.gates.unread_handle import UnreadHandle
from py_agent.gates.verified_citation import VerifiedCitation
from py_agent.runner.contexts import DispatchContext
from py_agent.runner.types import Middleware, Next


def default_gates() -> tuple[Gate, ...]:
    """The cascade, deterministic and cheap ones first."""
    return (UntoldAdditions(), UnreadHandle(), VerifiedCitation())


def cascade(gates: Sequence[Gate]) -> Middleware[DispatchContext]:
    """The gates as one step of the dispatch-output pipeline."""

    async def middleware(context: DispatchContext, next_: Next) -> None:
        for gate in gates:
            held = await gate.check(context)
            if held is not None:
                hold(context, gate.name, held)
                return
            await context.turn.breathe()
        await next_()

    return middleware
