"""Names of what lies in the spool."""

from __future__ import annotations

from py_agent.storage.base import Spool
from py_agent.storage.store import Store


def turn_prefix(turn: str) -> str:
    """What the keys of a turn's tool results start with."""
    return f"turns/{turn}/"


def trace_prefix(thread: str) -> str:
    """What the keys of a thread's traces start with."""
    return f"traces/{thread}/"


def trace_key(thread: str, turn: str) -> str:
    """Where a turn's trace lies."""
    return f"{trace_prefix(thread)}{turn}.jsonl"


async def sweep(store: Store, spool: Spool) -> int:
    """Ends what a kill has left: open questions become interrupted, and their tool results leave the spool.

    To be called by the one leader before its first turn.

    Returns:
        How many turns there were.

    Raises:
        StorageError: Database or spool refused.
    """
    turns = await store.interrupt_open_questions()
    for turn in turns:
        await spool.delete(turn_prefix(turn))
    return len(turns)
