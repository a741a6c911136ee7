"""Files of older versions are brought forward; newer ones are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.model.errors import StorageError
from py_agent.storage.base import Statement
from py_agent.storage.deletion import delete_thread
from py_agent.storage.migrations import migrate
from py_agent.storage.schema import STEPS
from py_agent.storage.spool import MemorySpool
from py_agent.storage.sqlite import SqliteConnection
from py_agent.storage.store import Store
from tests.storage import behaviours


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


async def test_a_file_of_the_first_version_keeps_its_data_and_gets_titles_and_search(tmp_path: Path) -> None:
    path = tmp_path / "first.db"
    connection = SqliteConnection(path)
    assert await migrate(connection, STEPS[:1]) == 1
    await connection.transaction(FIRST_VERSION)
    await connection.close()

    connection = SqliteConnection(path)
    store = Store(connection)
    await store.open()
    assert await version(connection) == len(STEPS)
    newer, older = (await store.list_threads()).threads
    assert (older.id, older.title, older.updated_at, older.messages) == ("t1", "How do I install it?", 5_000, 3)
    assert (newer.id, newer.title, newer.updated_at, newer.messages) == ("t2", "", 9_000, 0)
    question, answer, added = await store.history("t1")
    assert (question.content, question.state, question.turn) == ("How do I\ninstall it?", "done", "turn1")
    assert (answer.content, answer.model_content) == ("With `pip install lantern`.", "pip")
    assert [source.title for source in answer.sources] == ["Install"]
    assert added.state == "open"
    assert [call.arguments for call in await store.tool_calls("t1")] == [{"query": "install"}]
    assert [thought.text for thought in await store.thoughts("t1")] == ["search first"]
    assert [hit.message for hit in await store.search_threads("lantern")] == ["m2"]
    await store.commit_turn(behaviours.record("m3", turn="turn2"))
    assert [hit.message for hit in await store.search_threads("yes")] == ["answer-turn2"]
    assert await connection.execute("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    await delete_thread(store, MemorySpool(), "t1")
    assert await store.search_threads("lantern") == []
    await store.close()


#: Rows as the first released version wrote them, in its own words: not by code that changes with the schema.
FIRST_VERSION: list[Statement] = [
    ("INSERT INTO threads (id, created_at) VALUES ('t1', 1000), ('t2', 9000)", ()),
    (
        "INSERT INTO messages (id, thread, turn, role, content, model_content, state, status, sources_json, created_at)"
        " VALUES ('m1', 't1', 'turn1', 'user', ?, '', 'done', NULL, '[]', 2000),"
        " ('m2', 't1', 'turn1', 'assistant', 'With `pip install lantern`.', 'pip', 'done', 'answered', ?, 3000),"
        " ('m3', 't1', 'turn2', 'user', 'And then?', '', 'open', NULL, '[]', 5000)",
        (
            "How do I\ninstall it?",
            '[{"passage": "p", "page": "a.html", "anchor": "x", "url": "a.html#x", "title": "Install",'
            ' "path": ["A"], "quote": "pip"}]',
        ),
    ),
    (
        "INSERT INTO tool_calls (id, thread, turn, tool, arguments_json, checksum, is_error, shown, spool_key,"
        " created_at) VALUES ('c1', 't1', 'turn1', 'search_docs', '{\"query\": \"install\"}', 'c', 0, 'h', NULL, 2500)",
        (),
    ),
    (
        "INSERT INTO thoughts (id, thread, turn, kind, text, created_at)"
        " VALUES ('h1', 't1', 'turn1', 'plan', 'search first', 2400)",
        (),
    ),
]
