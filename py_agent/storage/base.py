"""The storage boundary: a connection that runs SQL, and a spool that keeps bytes by key.

The store itself (``store.py``) is written once, on top of ``Connection``: stdlib ``sqlite3`` on CPython, the storage
worker's sqlite-wasm in the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Row = dict[str, Any]
Statement = tuple[str, Sequence[Any]]


class Connection(Protocol):
    """One SQLite database."""

    async def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Runs one statement and returns its rows.

        Raises:
            StorageError: ``busy``, ``damaged``, ``full``, ``unavailable``.
        """
        ...

    async def transaction(self, statements: Sequence[Statement]) -> None:
        """Runs all statements in ONE transaction: all of them, or none.

        Raises:
            StorageError: As ``execute``; nothing was written then.
        """
        ...

    async def close(self) -> None:
        """Closes the database. Closing twice is allowed."""
        ...


class Spool(Protocol):
    """Bytes kept aside by key: tool results, traces. Any string is a key; the spool encodes it."""

    async def write(self, key: str, data: bytes) -> None:
        """Stores ``data`` under ``key``, replacing what was there.

        Raises:
            StorageError: ``full``, ``unavailable``.
        """
        ...

    async def read(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        """Bytes ``start`` to ``end`` (exclusive; None: to the end) of ``key``.

        Raises:
            KeyError: There is no such key.
        """
        ...

    async def size(self, key: str) -> int:
        """Length of ``key`` in bytes.

        Raises:
            KeyError: There is no such key.
        """
        ...

    async def delete(self, prefix: str) -> int:
        """Deletes every key that starts with ``prefix``; returns how many there were."""
        ...
