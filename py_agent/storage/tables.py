"""What all parts of the store stand on: the connection, and ids."""

from __future__ import annotations

import os

from py_agent.storage.base import Connection

#: Rows of ``kv`` under this name hold prefixes of spool keys that are still to be deleted.
PENDING_SPOOL = "forget:"

#: Rows of ``kv`` under this name hold what copies of a damaged database must not keep: an id, or nothing for all.
PENDING_ASIDE = "forget-aside:"


class Tables:
    """The base of the store's parts, which all share one connection.

    Args:
        connection: The database; ``Store.open`` brings it to the current schema.
    """

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    async def scrub(self) -> None:
        """Takes what was deleted out of the files, too: the write-ahead log still has it.

        Raises:
            StorageError: ``busy`` when another program reads the file, so that the log cannot be emptied.
        """
        if not await self._deletes_words():
            # An older SQLite keeps the words of deleted rows in its index until the index is merged.
            await self._db.execute("INSERT INTO messages_fts (messages_fts) VALUES ('optimize')")
        await self._db.empty_log()

    async def _deletes_words(self) -> bool:
        """Whether this SQLite can take a deleted row's words out of the index at once."""
        rows = await self._db.execute("SELECT sqlite_version() AS version")
        return tuple(int(part) for part in rows[0]["version"].split(".")[:2]) >= (3, 42)


def new_id() -> str:
    """An id that no other row has: 16 random bytes in hex."""
    return os.urandom(16).hex()
