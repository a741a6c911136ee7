"""The stdlib's ``sqlite3`` as a ``Connection``: the terminal's database. The page has its own in a worker."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from py_agent.model.errors import StorageError
from py_agent.storage.base import Row, Statement

#: Seconds to wait for another process that writes to the same file.
BUSY_TIMEOUT_S: Final = 3.0

#: SQLite's primary result codes, by what they mean to a person: code and what to do.
_MEANING: Final = {
    sqlite3.SQLITE_BUSY: ("busy", "Another program writes to it: close that program, then try again."),
    sqlite3.SQLITE_LOCKED: ("busy", "Another program writes to it: close that program, then try again."),
    sqlite3.SQLITE_CORRUPT: ("damaged", "Move the file away to start with an empty one."),
    sqlite3.SQLITE_NOTADB: ("damaged", "It is not a SQLite database: name another file, or move this one away."),
    sqlite3.SQLITE_FULL: ("full", "Free some space on the disk, then try again."),
}

_UNAVAILABLE: Final = ("unavailable", "Check that the folder exists and that the file may be written.")


class SqliteConnection:
    """One database file, or ``:memory:``.

    Calls run on the event loop's own thread: a statement takes well under a millisecond, and the terminal has no other
    work to do meanwhile.

    Args:
        path: The file; made if it is missing.

    Raises:
        StorageError: As ``Connection.execute``.
    """

    def __init__(self, path: str | Path = ":memory:") -> None:
        self._path = str(path)
        self._db: sqlite3.Connection | None = None
        try:
            self._db = sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
            self._db.row_factory = sqlite3.Row
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                self._db.execute(f"PRAGMA {pragma}")
        except sqlite3.Error as error:
            if self._db is not None:
                self._db.close()
            raise self._explain(error) from error

    async def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        try:
            return [dict(row) for row in self._open().execute(sql, tuple(params))]
        except sqlite3.Error as error:
            raise self._explain(error) from error

    async def transaction(self, statements: Sequence[Statement]) -> None:
        db = self._open()
        try:
            db.execute("BEGIN IMMEDIATE")
            try:
                for sql, params in statements:
                    db.execute(sql, tuple(params))
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise self._explain(error) from error

    async def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            raise StorageError(
                f"The database {self._path} is already closed.", hint="Open it again.", code="unavailable"
            )
        return self._db

    def _explain(self, error: sqlite3.Error) -> StorageError:
        code: int | None = getattr(error, "sqlite_errorcode", None)
        name, hint = _MEANING.get(code & 0xFF, _UNAVAILABLE) if code is not None else _UNAVAILABLE
        return StorageError(f"The database {self._path} refused: {error}.", hint=hint, code=name)
