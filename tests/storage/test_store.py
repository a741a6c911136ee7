"""The store over the stdlib's SQLite. The same behaviours run over the page's database in tests/browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from py_agent.model.errors import StorageError
from py_agent.storage.sqlite import SqliteConnection
from py_agent.storage.store import Store
from tests.storage import behaviours


@pytest.mark.parametrize("behaviour", behaviours.ALL, ids=lambda behaviour: behaviour.__name__)
async def test_over_the_stdlib(behaviour: Callable[[Store], Awaitable[None]]) -> None:
    store = Store(SqliteConnection())
    await store.open()
    await behaviour(store)


async def test_a_file_keeps_threads_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    store = Store(SqliteConnection(path))
    await store.open()
    turn = behaviours.record(await store.open_question("t1", "Does it?", "turn"))
    await store.commit_turn(turn)
    await store.close()
    again = Store(SqliteConnection(path))
    await again.open()
    assert (await again.history("t1"))[1] == turn.answer
    await again.close()
    await again.close()


async def test_a_closed_store_says_so() -> None:
    store = Store(SqliteConnection())
    await store.open()
    await store.close()
    with pytest.raises(StorageError, match="closed"):
        await store.history("t1")
