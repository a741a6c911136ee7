"""Files of older versions are brought forward; newer ones are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.model.errors import StorageError
from py_agent.storage.migrations import migrate
from py_agent.storage.schema import STEPS
from py_agent.storage.sqlite import SqliteConnection


async def version(connection: SqliteConnection) -> int:
    return int((await connection.execute("PRAGMA user_version"))[0]["user_version"])


async def test_a_new_file_gets_every_step_and_a_second_start_none() -> None:
    connection = SqliteConnection()
    assert await migrate(connection) == len(STEPS)
    assert await version(connection) == len(STEPS)
    assert await migrate(connection) == 0


async def test_a_file_of_an_older_version_gets_only_the_steps_that_it_lacks() -> None:
    connection = SqliteConnection()
    steps = (("CREATE TABLE a (x)",), ("CREATE TABLE b (x)", "INSERT INTO a VALUES (1)"))
    assert await migrate(connection, steps[:1]) == 1
    assert await migrate(connection, steps) == 1
    assert await connection.execute("SELECT x FROM a") == [{"x": 1}]


async def test_a_step_that_fails_leaves_the_file_at_the_version_before() -> None:
    connection = SqliteConnection()
    with pytest.raises(StorageError):
        await migrate(connection, (("CREATE TABLE a (x)",), ("CREATE TABLE b (x)", "no such statement")))
    assert await version(connection) == 1
    assert await connection.execute("SELECT name FROM sqlite_master WHERE name = 'b'") == []


async def test_a_file_of_a_newer_version_is_refused_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    connection = SqliteConnection(path)
    await connection.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(StorageError) as caught:
        await migrate(connection)
    assert caught.value.code == "newer"
    assert await connection.execute("SELECT name FROM sqlite_master") == []
    assert await version(connection) == len(STEPS) + 1
