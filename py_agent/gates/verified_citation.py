"""Every source of an answer is checked: its passage was read this turn, and its quote stands there."""

from __future__ import annotations

from py_agent.gates.base import Held
from py_agent.gates.policy import MIN_QUOTE_CHARS
from py_agent.gates.quotes import find_quote, fold
from py_agent.model.record import Source
from py_agent.runner.contexts import DispatchContext, TurnContext
from py_agent.tools.delivery import AnswerArgs, SourceArgs


class VerifiedCitation:
    """Holds ``provide_answer`` until every source is true. Without bound: to accept one would ship a fabrication."""

    name = "verified-citation"

    async def check(self, context: DispatchContext) -> Held | None:
        """Held at the first source that is not true."""
        if context.proposal is None or not isinstance(context.proposal.args, AnswerArgs):
            return None
        for source in context.proposal.args.sources:
            held = await self._check(context.turn, source)
            await context.turn.breathe()
            if held is not None:
                return held
        return None

    async def _check(self, turn: TurnContext, source: SourceArgs) -> Held | None:
        ledger = turn.shelf.ledger
        passage = await turn.passage(source.passage)
        if passage is None or not ledger.was_shown(source.passage):
            return Held(
                reason="a source names a passage that was not read this turn",
                nudge="nudge_source",
                values={"passage": source.passage[:60], "shown": ledger.shown},
            )
        if find_quote(source.quote, passage.text) is None:
            return Held(
                reason="a quote does not stand in its passage",
                nudge="nudge_quote",
                values={"passage": passage.id, "quote": source.quote[:120]},
            )
        if len(fold(source.quote)[0]) < MIN_QUOTE_CHARS and fold(source.quote)[0] != fold(passage.text)[0]:
            return Held(reason="a quote is too short", nudge="nudge_short_quote", values={"passage": passage.id})
        return None


async def checked_sources(turn: TurnContext, args: AnswerArgs) -> tuple[Source, ...]:
    """The sources of an accepted answer, written by the harness from the index, each passage once."""
    sources: dict[str, Source] = {}
    for source in args.sources:
        passage = await turn.passage(source.passage)
        if passage is not None and passage.id not in sources:
            quote = find_quote(source.quote, passage.text)
            sources[passage.id] = Source.of(passage, quote if quote is not None else source.quote)
    return tuple(sources.values())
