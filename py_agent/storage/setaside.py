"""Database files on disk that cannot be read: found at the start, moved aside, never deleted. CPython's side; the page
has ``worker/setaside.js``.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from pathlib import Path

from py_agent.model.errors import StorageError

#: What follows the name of a file that was set aside; the time follows that.
ASIDE = ".set-aside-"

#: What follows the name of a file that a statement found damaged: the next start looks closer.
MARK = ".damaged"

#: Bytes up to which a file is read through at every start. It takes about 20 ms for 20 MB; a larger file is read
#: through once a statement has found damage.
CHECKED_BYTES = 64_000_000

#: What a database consists of besides its main file.
COMPANIONS = ("-wal", "-journal", "-shm")

#: SQLite's primary result codes for a file that is no database of this or any other version, or a broken one.
_FAULTS = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_BROKEN_INDEX = re.compile(r"\bfts5\b", re.IGNORECASE)
_INDEXES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%fts5%'"

NOTICE = (
    "Your earlier conversations could not be read: the file that holds them is damaged. They were set aside as {aside},"
    " unchanged, and a new file was begun."
)


def rescue(path: Path) -> str:
    """Makes way for a new database where the file at ``path`` is a broken one.

    The file is copied before it is closed, because SQLite writes what it believes to be the log into it when it closes.

    Args:
        path: A database file, which may be missing or empty.

    Returns:
        What to tell the reader; empty if nothing was set aside.

    Raises:
        StorageError: ``busy``; ``full`` or ``unavailable`` when the copy cannot be written. Nothing was changed then.
    """
    mark = path.with_name(path.name + MARK)
    if not _size(path):
        mark.unlink(missing_ok=True)
        log = path.with_name(f"{path.name}-wal")
        if not _size(log):
            return ""
        # SQLite deletes a log without its database.
        aside = _copy(path)
        log.unlink()
        return NOTICE.format(aside=f"{aside.name}-wal")
    db = sqlite3.connect(path, isolation_level=None)
    try:
        if not _is_broken(db, path, thorough=mark.exists()):
            mark.unlink(missing_ok=True)
            return ""
        aside = _copy(path)
    finally:
        db.close()
    for file in (path, *(path.with_name(path.name + end) for end in COMPANIONS), mark):
        file.unlink(missing_ok=True)
    return NOTICE.format(aside=aside.name)


def mark_damaged(path: Path) -> None:
    """Notes for the next start that a statement found the file damaged."""
    path.with_name(path.name + MARK).touch()


def forget_copies(path: Path, containing: str | None) -> int:
    """See ``Connection.forget_set_aside``."""
    copies: dict[str, list[Path]] = {}
    for file in path.parent.glob(f"{path.name}{ASIDE}*"):
        copies.setdefault(re.sub(r"-(?:wal|journal|shm)$", "", file.name), []).append(file)
    gone = 0
    for copy, files in copies.items():
        if containing is None or any(containing.encode() in file.read_bytes() for file in files):
            try:
                for file in files:
                    file.unlink()
            except OSError as error:
                raise StorageError(
                    f"{copy} could not be deleted: {error}.", hint="Delete it by hand.", code="unavailable"
                ) from error
            gone += 1
    return gone


def _is_broken(db: sqlite3.Connection, path: Path, *, thorough: bool) -> bool:
    check = "integrity_check" if thorough else "quick_check"
    if not thorough and path.stat().st_size > CHECKED_BYTES:
        check = "schema_version"
    try:
        faults = _faults(db, check)
        if not all(map(_BROKEN_INDEX.search, faults)):
            return True
        if faults or thorough:
            # What is left is the search index. It is made from the messages: it is made again, and nothing is lost.
            for (table,) in db.execute(_INDEXES).fetchall():
                db.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")
            return bool(_faults(db, check))
        return False
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _FAULTS:
            return True
        raise StorageError(
            f"The database {path} does not open: {error}.",
            hint="Close the programs that use it, then try again.",
            code="busy" if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY else "unavailable",
        ) from error


def _faults(db: sqlite3.Connection, check: str) -> list[str]:
    rows = [str(row[0]) for row in db.execute(f"PRAGMA {check}")]
    return [] if check == "schema_version" else [row for row in rows if row != "ok"]


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _copy(path: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside, number = path.with_name(f"{path.name}{ASIDE}{stamp}"), 1
    written: list[Path] = []
    try:
        while aside.exists() or aside.with_name(f"{aside.name}-wal").exists():
            number += 1
            aside = path.with_name(f"{path.name}{ASIDE}{stamp}.{number}")
        for end in ("", "-wal", "-journal"):
            source = path.with_name(path.name + end)
            if _size(source):
                written.append(aside.with_name(aside.name + end))
                shutil.copyfile(source, written[-1])
    except OSError as error:
        for file in written:
            file.unlink(missing_ok=True)
        raise StorageError(
            f"{path} is damaged, and it could not be copied out of the way: {error}.",
            hint="Free some space on the disk, or move the file away by hand.",
            code="full",
        ) from error
    return aside
