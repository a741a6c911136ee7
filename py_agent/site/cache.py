"""Readings kept between builds: an unchanged file is not read again."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path

import platformdirs

#: Readings that no build asked for in so many days are dropped: a release cycle of most docs is shorter.
KEPT_DAYS = 90
_SECONDS_A_DAY = 86_400
#: Seconds that one build waits for another that writes: they write for milliseconds.
LOCKED_S = 10.0
#: Seconds between two tries of opening.
RETRY_S = 0.02
_SELECT = "SELECT key, reading FROM readings WHERE key IN (SELECT value FROM json_each(?))"
_CREATE = "CREATE TABLE IF NOT EXISTS readings (key TEXT PRIMARY KEY, day INTEGER NOT NULL, reading BLOB NOT NULL)"
_TOUCH = "UPDATE readings SET day = :day WHERE day < :day AND key IN (SELECT value FROM json_each(:names))"
#: Files in the folder.
READINGS = "readings.sqlite"
VECTORS = "vectors.sqlite"


#: Names another folder for every build, such as one that a CI service keeps.
FOLDER_VARIABLE = "PY_AGENT_CACHE"


def default_folder() -> Path:
    """Where readings and vectors are kept when nobody says otherwise: the variable's folder, or the user's cache."""
    return Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_dir("py-agent"))


class ReadingCache:
    """A SQLite file of readings by key. What goes wrong with it is told once in ``trouble`` and costs only time.

    Args:
        folder: Where the file lies; made if it is not there. None keeps nothing.
        name: The file's.
    """

    def __init__(self, folder: Path | None, name: str = READINGS) -> None:
        self.trouble = ""
        self._database: sqlite3.Connection | None = None
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = self._open(folder / name)
        except (OSError, sqlite3.Error) as error:
            self._fail(f"Nothing is kept between builds: {folder} cannot be used ({error}).")

    def _open(self, file: Path) -> sqlite3.Connection:
        try:
            return _prepare(file)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            # Damaged, or no database at all: it holds nothing that cannot be read again.
            file.unlink(missing_ok=True)
            self.trouble = f"{file} was damaged ({error}) and begun anew."
            return _prepare(file)

    def _fail(self, trouble: str) -> None:
        self.trouble = trouble
        if self._database is not None:
            self._database.close()
        self._database = None

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The readings that are kept under ``keys``."""
        wanted, found = list(keys), dict[str, bytes]()
        if self._database is None:
            return found
        now = int(time.time()) // _SECONDS_A_DAY
        try:
            names = json.dumps(wanted)
            found.update(self._database.execute(_SELECT, (names,)).fetchall())
            self._database.execute(_TOUCH, {"day": now, "names": names})
            self._database.commit()
        except sqlite3.Error as error:
            self._fail(f"What was kept from earlier builds cannot be read ({error}).")
        return found

    def put(self, readings: dict[str, bytes]) -> None:
        """Keeps readings."""
        if self._database is None or not readings:
            return
        now = int(time.time()) // _SECONDS_A_DAY
        try:
            self._database.executemany(
                "INSERT OR REPLACE INTO readings VALUES (?, ?, ?)", [(key, now, data) for key, data in readings.items()]
            )
            self._database.commit()
        except sqlite3.Error as error:
            self._fail(f"Nothing more is kept for later builds ({error}).")

    def close(self) -> None:
        """Drops what nobody asked for in a long time, and closes the file."""
        if self._database is None:
            return
        try:
            self._database.execute(
                "DELETE FROM readings WHERE day < ?", (int(time.time()) // _SECONDS_A_DAY - KEPT_DAYS,)
            )
            self._database.commit()
        except sqlite3.Error as error:
            self._fail(f"Old readings cannot be dropped ({error}).")
        else:
            self._database.close()
            self._database = None


def _prepare(file: Path) -> sqlite3.Connection:
    until = time.monotonic() + LOCKED_S
    while True:
        # IMMEDIATE: a transaction that begins with reading cannot wait for its turn to write.
        database = sqlite3.connect(file, timeout=LOCKED_S, isolation_level="IMMEDIATE")
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(_CREATE)
            database.execute("SELECT count(*) FROM readings WHERE key = ''")
            database.commit()
            return database
        except sqlite3.Error as error:
            database.close()
            # SQLite waits for no one who switches a new file to this journal at the same moment.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(RETRY_S)
