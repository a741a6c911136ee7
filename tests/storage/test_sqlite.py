"""What the stdlib connection says when SQLite refuses."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from py_agent.model.errors import StorageError
from py_agent.storage import sqlite
from py_agent.storage.sqlite import SqliteConnection


async def test_a_file_that_is_no_database_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"not a database, " * 100)
    with pytest.raises(StorageError) as caught:
        SqliteConnection(path)
    assert caught.value.code == "damaged"
    assert str(path) in caught.value.message
    assert path.read_bytes() == b"not a database, " * 100


async def test_a_folder_that_does_not_exist_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        SqliteConnection(tmp_path / "missing" / "threads.db")
    assert caught.value.code == "unavailable"
    assert caught.value.hint


async def test_a_file_that_another_program_writes_to_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.05)
    path = tmp_path / "threads.db"
    connection = SqliteConnection(path)
    await connection.execute("CREATE TABLE t (x)")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError) as caught:
        await connection.transaction([("INSERT INTO t VALUES (1)", ())])
    assert caught.value.code == "busy"
    other.execute("ROLLBACK")
    await connection.transaction([("INSERT INTO t VALUES (1)", ())])
    assert await connection.execute("SELECT x FROM t") == [{"x": 1}]
