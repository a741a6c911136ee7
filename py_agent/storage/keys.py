"""Names of what lies in the spool."""

from __future__ import annotations

import contextlib

from py_agent.storage.base import Spool
from py_agent.storage.store import Store

#: Bytes of all traces of one thread. A turn of six requests in a window of 8k tokens takes about 150 kB, so this keeps
#: the last fifty turns; the oldest go first, and never a message.
TRACE_CAP_BYTES = 8_000_000


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
    """Ends what a kill has left: open questions become interrupted, their tool results leave the spool, their traces
    are noted, and deletions that were begun are carried out.

    To be called by the one leader before its first turn.

    Returns:
        How many turns there were.

    Raises:
        StorageError: Database or spool refused.
    """
    turns = await store.open_turns()
    await store.interrupt_open_questions()
    for thread, turn in turns:
        await spool.delete(turn_prefix(turn))
        key = trace_key(thread, turn)
        with contextlib.suppress(KeyError):  # it may have been killed before its trace began
            for forgotten in await store.add_trace(thread, turn, key, await spool.size(key), TRACE_CAP_BYTES):
                await spool.delete(forgotten)
    if await store.pending():
        # Imported only where it is used: nearly every start has nothing to delete.
        from py_agent.storage.deletion import finish_deletions

        await finish_deletions(store, spool)
    return len(turns)
