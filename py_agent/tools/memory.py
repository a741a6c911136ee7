"""``remember`` and ``recall``: what outlives a thread, on the reader's own words or approval."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from py_agent.model.memory import MAX_MEMORY_CHARS, Memory
from py_agent.model.tool import Tool, ToolArgs, ToolResult
from py_agent.prompt.wording import wording
from py_agent.runner.admission import are_the_readers_own
from py_agent.storage.base import MemoryStore
from py_agent.storage.store import new_id

REMEMBER = "remember"
RECALL = "recall"

#: Memories that one call recalls.
RECALLED = 5


class RememberArgs(ToolArgs):
    """Arguments of ``remember``."""

    text: str = Field(min_length=1, max_length=MAX_MEMORY_CHARS, description="What to remember, in the reader's words.")


class RecallArgs(ToolArgs):
    """Arguments of ``recall``."""

    query: str = Field(default="", description="What it is about; empty for the latest.")


def remember(store: MemoryStore) -> Tool:
    """The tool that keeps something for later threads."""

    async def handler(args: RememberArgs, context: Any) -> ToolResult:
        turn = context.turn
        own = are_the_readers_own(args.text, "\n".join([turn.question, *turn.told]))
        await store.add_memory(
            Memory(id=new_id(), content=args.text, trust="reader" if own else "model", source=turn.turn)
        )
        return ToolResult(text=f"Remembered: {args.text}")

    return Tool(
        name=REMEMBER,
        description="Remembers something about the reader for later conversations.",
        args=RememberArgs,
        handler=handler,
        effect=True,
        words=lambda args: args.text,
        asks=lambda args: wording("reader_remember", text=" ".join(args.text.split())),
    )


def recall(store: MemoryStore) -> Tool:
    """The tool that looks up what was remembered."""

    async def handler(args: RecallArgs, _context: object) -> ToolResult:
        memories = await store.search_memories(args.query, RECALLED)
        return ToolResult(text=wording("memories_result", memories=memories))

    return Tool(name=RECALL, description="Looks up what was remembered.", args=RecallArgs, handler=handler)
