"""The storage boundary: a connection that runs SQL, and a spool that keeps bytes by key.

The store itself (``store.py``) is written once, on top of ``Connection``: stdlib ``sqlite3`` on CPython, the storage
worker's sqlite-wasm in the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from py_agent.model.instruction import StandingInstruction
from py_agent.model.memory import Memory
from py_agent.model.record import StoredMessage, TurnRecord

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

    async def empty_log(self) -> None:
        """Moves the write-ahead log into the database and cuts it to nothing: it keeps old rows otherwise.

        Raises:
            StorageError: ``busy`` when another program reads the file.
        """
        ...

    async def forget_set_aside(self, containing: str | None) -> int:
        """Deletes copies of damaged databases that were set aside.

        Args:
            containing: Only those in which this ASCII text stands, such as a thread's id; None: all.

        Returns:
            How many were deleted.

        Raises:
            StorageError: A copy could not be deleted.
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

    async def append(self, key: str, data: bytes) -> None:
        """Adds ``data`` at the end of ``key``, which is made if there is none. What was appended survives a kill.

        Raises:
            StorageError: ``full``, ``unavailable``; what stood there before stays as it was.
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


class InstructionStore(Protocol):
    """What holds for every turn besides the settings."""

    async def instructions(self) -> list[StandingInstruction]:
        """The standing instructions, oldest first.

        Raises:
            StorageError: As ``Connection.execute``.
        """
        ...


class MemoryStore(Protocol):
    """What the reader had kept for later threads."""

    async def add_memory(self, memory: Memory) -> None:
        """Keeps ``memory``.

        Raises:
            StorageError: As ``Connection.execute``.
        """
        ...

    async def search_memories(self, query: str, top: int) -> list[Memory]:
        """The memories that share most words with ``query``, best first; an empty query gives the newest.

        Raises:
            StorageError: As ``Connection.execute``.
        """
        ...

    async def delete_memory(self, memory_id: str) -> bool:
        """Forgets a memory; whether there was one.

        Raises:
            StorageError: As ``Connection.execute``.
        """
        ...


class TurnStore(Protocol):
    """What a turn needs of the store; ``storage/store.py`` is it, over any ``Connection``."""

    async def open_question(self, thread: str, text: str, turn: str) -> str:
        """Commits the reader's question at once, in state ``open``; makes the thread if there is none. Returns its id.

        ``turn`` is stored with it: the next start sweeps what a turn that was killed has left in the spool.

        Raises:
            StorageError: As ``Connection.execute``.
        """
        ...

    async def commit_turn(self, turn: TurnRecord) -> None:
        """Writes the answer, tool calls and thoughts and marks the question ``done``: ONE transaction.

        Raises:
            StorageError: As ``Connection.transaction``; nothing was written then.
        """
        ...

    async def mark_interrupted(self, message_id: str) -> None:
        """Sets an ``open`` question to ``interrupted``; does nothing to one in another state.

        Raises:
            StorageError: As ``Connection.execute``.
        """
        ...

    async def history(self, thread: str) -> list[StoredMessage]:
        """The messages of a thread, oldest first; empty if there is no such thread.

        Raises:
            StorageError: As ``Connection.execute``.
        """
        ...
