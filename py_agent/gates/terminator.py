"""What ends a turn: four cases, and the only place that acks.

1. An answer tool that passed the gates: ack.
2. Another tool: go on.
3. Prose that answers from the docs without a source: hold it and ask for ``provide_answer``; past the limit show it,
   marked as uncited, never with a source added.
4. Conversation: ack.
"""

from __future__ import annotations

from py_agent.gates.base import Held, hold, settle
from py_agent.gates.links import without_links
from py_agent.gates.policy import REASON_CHARS, RELATED_PASSAGES, STUCK_PROSE_LIMIT
from py_agent.gates.prose import is_conversational
from py_agent.gates.verified_citation import checked_sources
from py_agent.model.record import Source
from py_agent.prompt.wording import wording
from py_agent.runner.contexts import DispatchContext, Outcome, TurnContext
from py_agent.runner.types import Next
from py_agent.tools.delivery import AnswerArgs, DontKnowArgs

NAME = "terminator"


async def terminator(context: DispatchContext, next_: Next) -> None:
    """The last step of the worker's dispatch-output pipeline."""
    if context.proposal is not None:
        await _deliver(context)
    elif context.ran:
        pass
    elif context.done.truncated or context.done.bad_calls:
        why = context.done.bad_calls[0] if context.done.bad_calls else "your output was cut off by its limit"
        hold(context, NAME, Held(reason="a call could not be read", nudge="nudge_bad_call", values={"why": why}))
    elif not context.done.text:
        hold(context, NAME, Held(reason="the model said nothing", nudge="nudge_empty"))
    elif is_conversational(context):
        context.turn.outcome = Outcome("answered", without_links(context.done.text))
        context.signals.ack()
    elif context.corrections.get("needs-citation", 0) < STUCK_PROSE_LIMIT:
        hold(context, "needs-citation", Held(reason="prose without a source", nudge="nudge_cite"))
    else:
        context.turn.outcome = Outcome("uncited", without_links(context.done.text), related=await related(context.turn))
        context.signals.ack()
    await next_()


async def _deliver(context: DispatchContext) -> None:
    turn = context.turn
    args = context.proposal.args if context.proposal is not None else None
    if isinstance(args, AnswerArgs):
        turn.outcome = Outcome("answered", without_links(args.answer), sources=await checked_sources(turn, args))
    elif isinstance(args, DontKnowArgs):
        reason = without_links(" ".join(args.reason.split()))[:REASON_CHARS]
        answer = wording("reader_not_found", title=turn.config.title, reason=reason)
        turn.outcome = Outcome("abstained", answer, related=await related(turn))
    settle(context, wording("delivered"))
    context.signals.ack()


async def related(turn: TurnContext) -> tuple[Source, ...]:
    """The best passages of the turn, each place once: what a reader without an answer may look at."""
    places: dict[tuple[str, str], Source] = {}
    for passage_id in turn.shelf.ledger.retrieved:
        passage = await turn.passage(passage_id)
        if passage is not None:
            places.setdefault((passage.page, passage.anchor), Source.of(passage))
        if len(places) == RELATED_PASSAGES:
            break
    return tuple(places.values())
