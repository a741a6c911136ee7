"""Deletes for good: rows, the words in the search index, the log, what lies in the spool, and copies set aside.

The rows go first, and with them, in the same transaction, a note of what is to follow: a kill in between leaves the
note, and ``sweep`` at the next start ends what was begun.
"""

from __future__ import annotations

from py_agent.storage.base import Spool
from py_agent.storage.keys import trace_prefix, turn_prefix
from py_agent.storage.store import Store
from py_agent.storage.tables import PENDING_ASIDE, PENDING_SPOOL


async def delete_thread(store: Store, spool: Spool, thread: str) -> bool:
    """Deletes a thread and all that belongs to it; whether there was one. No turn may run in it.

    Raises:
        StorageError: Database or spool refused. The thread is gone if its rows are; the rest follows at the next start.
    """
    if await store.thread(thread) is None:
        return False
    turns = await store.turns_of(thread)
    await store.remove_thread(thread, [*map(turn_prefix, turns), trace_prefix(thread)])
    await finish_deletions(store, spool)
    return True


async def delete_all(store: Store, spool: Spool) -> None:
    """Deletes everything that the store and the spool hold, and every copy of a damaged database. No turn may run.

    Raises:
        StorageError: As ``delete_thread``.
    """
    await store.remove_everything()
    await finish_deletions(store, spool)


async def finish_deletions(store: Store, spool: Spool) -> bool:
    """Ends the deletions that were begun; whether there were any.

    Raises:
        StorageError: As ``delete_thread``.
    """
    pending = await store.pending()
    if not pending:
        return False
    for key in pending:
        if key.startswith(PENDING_SPOOL):
            await spool.delete(key.removeprefix(PENDING_SPOOL))
        else:
            await store.forget_set_aside(key.removeprefix(PENDING_ASIDE) or None)
    await store.settle(pending)
    return True
