"""What the reader adds while a turn runs reaches the model before anything counts as the answer."""

from __future__ import annotations

from py_agent.gates.base import Held
from py_agent.prompt.envelopes import envelope
from py_agent.prompt.wording import wording
from py_agent.runner.contexts import DispatchContext, TurnContext
from py_agent.runner.types import Next


def _take(turn: TurnContext) -> list[str]:
    texts, turn.additions = turn.additions, []
    turn.told += texts
    return [envelope(text, kind="reader", nonce=turn.nonce()) for text in texts]


async def tell_additions(context: DispatchContext, next_: Next) -> None:
    """A step of the worker's dispatch-input pipeline: what came since the last request is appended to the prompt."""
    for reader in _take(context.turn):
        context.conversation.user(wording("addition", reader=reader))
    await next_()


class UntoldAdditions:
    """Holds what would end the turn while the model has not been told something. At most once for each addition."""

    name = "additions"

    async def check(self, context: DispatchContext) -> Held | None:
        """Held while there is something to tell; it tells it."""
        ends_the_turn = context.proposal is not None or not context.ran
        if not context.turn.additions or not ends_the_turn:
            return None
        return Held(
            reason="the reader added something", nudge="nudge_addition", values={"readers": _take(context.turn)}
        )
