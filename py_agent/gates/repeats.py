"""Stops a model that asks for the same thing again and again, and sees to it that the reader gets what it has."""

from __future__ import annotations

import re

from py_agent.gates.policy import FOLDED_REQUESTS, FOLDED_RESULTS, SAME_CALL_LIMIT
from py_agent.gates.terminator import related
from py_agent.prompt.envelopes import open_envelopes
from py_agent.prompt.wording import wording
from py_agent.runner.contexts import DispatchContext, Outcome, TurnContext
from py_agent.runner.events import GateFired
from py_agent.runner.types import Next

NAME = "repeats"


async def stop_repeats(context: DispatchContext, next_: Next) -> None:
    """A step of the worker's dispatch-output pipeline, before the gates.

    At the limit the results so far are put in front of the model and only an answer may be called. A model that goes on
    all the same is not asked again: the turn ends with what the tools have said.
    """
    turn = context.turn
    if context.folded is None:
        asked = max((turn.requested[call.checksum] for call in context.ran), default=0)
        if asked >= SAME_CALL_LIMIT:
            await _fold_in(context, asked)
    elif context.proposal is None and (context.ran or context.iteration - context.folded >= FOLDED_REQUESTS):
        turn.outcome = await forced_outcome(turn)
        context.drop_draft("the model did not answer")
        context.signals.ack()
        return
    await next_()


async def _fold_in(context: DispatchContext, times: int) -> None:
    context.folded = context.iteration
    turn = context.turn
    useful = {call.checksum: call for call in turn.calls if not call.is_error and call.ran}
    results = []
    for call in list(useful.values())[-FOLDED_RESULTS:]:
        # A handle says nothing, and from here on nothing can be opened: the harness opens it.
        unread = call.id in turn.shelf.unread
        results.append({"tool": call.tool, "shown": await turn.shelf.read(call.id, 1) if unread else call.shown})
    text = wording(
        "fold_in",
        times=times,
        calls=results,
        terminals=[tool.name for tool in context.tools.visible() if tool.terminal],
    )
    context.turn.emit(GateFired(gate=NAME, reason=f"the same call was made {times} times"))
    context.conversation.user(text)


async def forced_outcome(turn: TurnContext) -> Outcome:
    """An end without the model: what a tool said that is not about the docs, else the passages that were found."""
    found = await related(turn)
    for call in reversed(turn.calls):
        if call.ran and not call.is_error and not turn.shelf.ledger.retrieved:
            text = next((text for _, text in open_envelopes(call.shown)), call.shown)
            longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
            fence = "`" * max(3, longest + 1)
            return Outcome("uncited", wording("reader_forced", tool=call.tool, text=text, fence=fence), related=found)
    return Outcome("abstained", wording("reader_unverified", title=turn.config.title, related=found), related=found)
