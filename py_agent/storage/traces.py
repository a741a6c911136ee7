"""Which traces lie in the spool (``trace/tracing.py``: TraceIndex)."""

from __future__ import annotations

from py_agent.storage.base import Statement
from py_agent.storage.tables import Tables


class Traces(Tables):
    """The list of traces. Every method raises ``StorageError`` as ``Connection`` does."""

    async def add_trace(self, thread: str, turn: str, key: str, size: int, cap: int) -> list[str]:
        """Notes a trace; forgets the oldest ones of the thread above ``cap`` bytes, and never this one or a message.

        Args:
            thread, turn: Whose it is.
            key: Where it lies in the spool.
            size: Its length in bytes.
            cap: Bytes of all traces of the thread.

        Returns:
            Keys of the forgotten ones, oldest first: they are to be deleted from the spool.
        """
        rows = await self._db.execute(
            "SELECT key, bytes FROM traces WHERE thread = ? AND key != ? ORDER BY seq", (thread, key)
        )
        over = sum(row["bytes"] for row in rows) + size - cap
        forgotten: list[str] = []
        for row in rows:
            if over <= 0:
                break
            over -= row["bytes"]
            forgotten.append(str(row["key"]))
        # The new one replaces a note of the same key, which would keep its old place in the order otherwise.
        gone: list[Statement] = [("DELETE FROM traces WHERE key = ?", (old,)) for old in (key, *forgotten)]
        insert = (
            "INSERT INTO traces (key, thread, turn, bytes, created_at)"
            " VALUES (?, ?, ?, ?, CAST(strftime('%s', 'now') AS INTEGER) * 1000)"
        )
        await self._db.transaction([*gone, (insert, (key, thread, turn, size))])
        return forgotten

    async def traces(self, thread: str) -> list[tuple[str, int]]:
        """Spool key and bytes of each trace of a thread, oldest first."""
        rows = await self._db.execute("SELECT key, bytes FROM traces WHERE thread = ? ORDER BY seq", (thread,))
        return [(str(row["key"]), int(row["bytes"])) for row in rows]
