"""No answer past an unread result: it would be made up, whatever it says."""

from __future__ import annotations

from py_agent.gates.base import Held
from py_agent.runner.contexts import DispatchContext


class UnreadHandle:
    """Holds prose and terminal calls while a handle of this turn has not been opened. Without bound."""

    name = "unread-handle"

    async def check(self, context: DispatchContext) -> Held | None:
        """Held while there is something to read."""
        unread = context.turn.shelf.unread
        ends_the_turn = context.proposal is not None or not (context.ran or context.done.calls)
        if not unread or not ends_the_turn:
            return None
        return Held(
            reason=f"the result {unread[0]} has not been read",
            nudge="nudge_unread",
            values={"call": unread[0]},
        )
