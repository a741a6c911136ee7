"""What stands in a turn's question besides the reader's words: passages, memories and the reader's wishes."""

from __future__ import annotations

from py_agent.model.identity import READER
from py_agent.model.retrievable import Retrievable
from py_agent.prompt.envelopes import envelope
from py_agent.prompt.wording import wording
from py_agent.runner.contexts import TurnContext
from py_agent.runner.types import Middleware, Next
from py_agent.storage.base import MemoryStore
from py_agent.tools.listing import list_passages
from py_agent.tools.places import page_at


async def prefetch(context: TurnContext, next_: Next) -> None:
    """A step of the turn-input pipeline: searches with the reader's words and on the page that the reader is on.

    What it brings stands in the prompt and therefore counts as read.
    """
    top = context.config.prefetch_top
    if top:
        found = await context.search.search(context.question, top)
        passages = {hit.passage.id: hit.passage for hit in found.hits}
        if context.page is not None:
            first = (await page_at(context.search, context.page))[:1]
            passages.update({passage.id: passage for passage in first})
        best = max((hit.score for hit in found.hits), default=0.0) or 1.0
        scores = {hit.passage.id: max(0.0, min(1.0, hit.score / best)) for hit in found.hits}
        context.retrievables += [
            Retrievable(
                id=passage.id,
                content=list_passages("", [passage])[0].strip(),
                trust="first-party",
                source=passage.page,
                score=scores.get(passage.id, 0.0),
            )
            for passage in passages.values()
        ]
        context.shelf.ledger.add_retrieved(passages)
        context.shelf.ledger.add_whole(passages)
    await next_()


def recall(memories: MemoryStore | None) -> Middleware[TurnContext]:
    """A step of the turn-input pipeline: brings the memories that the question is about."""

    async def middleware(context: TurnContext, next_: Next) -> None:
        if memories is not None and context.config.recall_top:
            context.memories += await memories.search_memories(context.question, context.config.recall_top)
        await next_()

    return middleware


def knowledge_of(turn: TurnContext) -> str:
    """All of it, each piece as data between marks that tell whose it is; empty if there is nothing."""
    pieces = [
        envelope(item.content, kind=f"{item.kind} {item.trust}", nonce=turn.nonce()) for item in turn.retrievables
    ]
    pieces += [envelope(memory.content, kind=f"memory {memory.trust}", nonce=turn.nonce()) for memory in turn.memories]
    pieces += [
        envelope(instruction.text, kind="wish reader", nonce=turn.nonce())
        for instruction in turn.standing
        if instruction.author == READER
    ]
    return wording("knowledge", pieces=pieces) if pieces else ""
