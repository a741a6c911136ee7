"""The stdlib's ``sqlite3`` as a ``Connection``: the terminal's database. The page has its own in a worker."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from py_agent.model.errors import StorageError
from py_agent.storage.base import Row, Statement
from py_agent.storage.setaside import forget_copies, mark_damaged, rescue

#: Seconds to wait for another process that writes to the same file.
BUSY_TIMEOUT_S: Final = 3.0

#: How every connection works. What is deleted is overwritten, and nothing is written to temporary files, which nobody
#: would clean.
PRAGMAS: Final = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",
    "temp_store = MEMORY",
)

#: SQLite's primary result codes, by what they mean to a person: code and what to do.
_MEANING: Final = {
    sqlite3.SQLITE_BUSY: ("busy", "Another program writes to it: close that program, then try again."),
    sqlite3.SQLITE_LOCKED: ("busy", "Another program writes to it: close that program, then try again."),
    sqlite3.SQLITE_CORRUPT: ("damaged", "Start again: the file is then set aside, and an empty one begun."),
    sqlite3.SQLITE_NOTADB: ("damaged", "Start again: the file is then set aside, and an empty one begun."),
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
            for pragma in PRAGMAS:
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

    async def empty_log(self) -> None:
        rows = await self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if rows and rows[0]["busy"]:
            raise StorageError(
                f"Another program reads {self._path}, so what was deleted is still in its log.",
                hint="Close that program, then delete again.",
                code="busy",
            )

    async def forget_set_aside(self, containing: str | None) -> int:
        return forget_copies(Path(self._path), containing) if self._path != ":memory:" else 0

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
        if name == "damaged" and self._path != ":memory:":
            mark_damaged(Path(self._path))
        return StorageError(f"The database {self._path} refused: {error}.", hint=hint, code=name)


def open_database(path: str | Path) -> tuple[SqliteConnection, str]:
    """Opens a file that may be broken: it is then set aside, and a new one begun.

    Returns:
        The connection, and what to tell the reader; empty if all is well.

    Raises:
        StorageError: As ``Connection.execute``; ``full`` when there is no space for the copy.
    """
    notice = "" if str(path) == ":memory:" else rescue(Path(path))
    return SqliteConnection(path), notice
