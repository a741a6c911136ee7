"""Case S03 on CPython: a broken file is set aside and told, never deleted, and the store goes on with a new one."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from py_agent.model.errors import StorageError
from py_agent.storage import setaside
from py_agent.storage.sqlite import SqliteConnection, open_database
from py_agent.storage.store import Store
from tests.storage import behaviours
from tests.storage.damage import KINDS, PAGE, WORD, damaged

CASE = json.loads((Path(__file__).parents[1] / "fixtures/cases/S03.json").read_text(encoding="utf-8"))


async def fill(path: Path) -> None:
    """Forty threads in a file of our own schema, without a log beside it."""
    store = Store(SqliteConnection(path))
    await store.open()
    for number in range(40):
        await behaviours.ask(
            store, f"Wo steht das Walross-{number}?", f"t{number}", f"turn{number}", f"Am Meer-{number}. " * 40
        )
    await store.close()


async def use(path: Path) -> tuple[str, int]:
    """Opens the file, asks a question in it; the notice, and how many threads there were."""
    connection, notice = open_database(path)
    store = Store(connection)
    await store.open()
    before = len((await store.list_threads()).threads)
    await behaviours.ask(store, "Does it?", "new", f"new-{before}")
    assert [message.content for message in await store.history("new")][-2:] == ["Does it?", "Yes"]
    await store.close()
    return notice, before


def copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}{setaside.ASIDE}*"))


def test_the_five_kinds_are_those_of_the_case() -> None:
    assert set(CASE["expect"]) == set(KINDS)


@pytest.mark.parametrize("kind", ["not_a_db", "truncated", "damaged_page"])
async def test_a_broken_file_is_set_aside_unchanged_and_told_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    await fill(path)
    broken = damaged(kind, path.read_bytes())
    path.write_bytes(broken)
    notice, before = await use(path)
    assert before == 0
    (copy,) = copies(path)
    assert copy.read_bytes() == broken
    assert copy.name in notice
    assert "sqlite" not in notice.lower()
    assert await use(path) == ("", 1)
    assert copies(path) == [copy]


async def test_an_empty_file_is_a_new_one_and_nothing_is_told(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    path.write_bytes(damaged("zero", b""))
    assert await use(path) == ("", 0)
    assert copies(path) == []


async def test_a_header_that_names_the_log_opens_with_all_threads(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    await fill(path)
    path.write_bytes(damaged("wal_header", path.read_bytes()))
    assert await use(path) == ("", 40)
    assert copies(path) == []


async def test_the_log_is_set_aside_with_its_database(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    await fill(path)
    connection = SqliteConnection(path)
    await connection.execute("INSERT INTO kv VALUES ('only', 'in the log')")
    log = path.with_name("threads.db-wal").read_bytes()
    broken = damaged("damaged_page", path.read_bytes())
    await connection.close()
    path.write_bytes(broken)
    path.with_name("threads.db-wal").write_bytes(log)
    await use(path)
    copy, copied_log = copies(path)
    assert copy.read_bytes() == broken
    assert copied_log.read_bytes() == log
    assert copied_log.name == f"{copy.name}-wal"


async def test_a_log_without_its_database_is_set_aside_before_it_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    log = path.with_name("threads.db-wal")
    connection = SqliteConnection(path)
    await connection.execute("CREATE TABLE t (x)")
    content = log.read_bytes()
    await connection.close()
    for empty in (lambda: path.write_bytes(b""), path.unlink):
        empty()
        log.write_bytes(content)
        notice, before = await use(path)
        assert ("-wal" in notice, before) == (True, 0)
    assert [copy.read_bytes() for copy in copies(path)] == [content, content]
    connection = SqliteConnection(path)
    assert await connection.forget_set_aside("t9" * 16) == 0
    assert await connection.forget_set_aside(None) == 2
    await connection.close()
    assert copies(path) == []


async def test_two_that_break_in_one_second_both_stay(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    for text in (b"one, no database" * 99, b"two, no database" * 99):
        path.write_bytes(text)
        await use(path)
    assert sorted(copy.read_bytes()[:3] for copy in copies(path)) == [b"one", b"two"]


@pytest.mark.cpython  # the page's file system takes a name of any length
async def test_a_copy_that_cannot_be_written_leaves_the_file_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "threads.db"
    path.write_bytes(b"no database" * 99)
    # A name that no file system takes: the copy fails as it does on a full disk.
    monkeypatch.setattr(setaside, "ASIDE", "x" * 300)
    with pytest.raises(StorageError) as caught:
        open_database(path)
    assert caught.value.code == "full"
    assert path.read_bytes() == b"no database" * 99


async def test_damage_that_a_statement_finds_is_looked_into_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setaside, "CHECKED_BYTES", 0)  # a file that is too large to be read through at every start
    path = tmp_path / "threads.db"
    await fill(path)
    broken = damaged("damaged_page", path.read_bytes())
    path.write_bytes(broken)
    connection, notice = open_database(path)
    assert notice == ""
    store = Store(connection)
    await store.open()
    with pytest.raises(StorageError) as caught:
        for number in range(40):
            await store.history(f"t{number}")
    assert caught.value.code == "damaged"
    assert "set aside" in caught.value.hint
    await store.close()
    before = path.read_bytes()
    notice, threads = await use(path)
    assert (copies(path)[0].name in notice, threads) == (True, 0)
    assert copies(path)[0].read_bytes() == before
    assert not path.with_name(path.name + setaside.MARK).exists()


async def test_a_broken_search_index_is_made_again_and_nothing_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    await fill(path)
    db = sqlite3.connect(path)
    db.execute("DELETE FROM messages_fts_data WHERE id > 100")
    db.commit()
    db.close()
    connection, _ = open_database(path)
    store = Store(connection)
    await store.open()
    with pytest.raises(StorageError) as caught:
        await store.search_threads("Walross")
    assert caught.value.code == "damaged"
    await store.close()
    connection, notice = open_database(path)
    store = Store(connection)
    await store.open()
    assert notice == ""
    assert len(await store.search_threads("Walross", 100)) == 40
    assert copies(path) == []
    await store.close()


async def test_a_newer_file_is_no_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    await fill(path)
    connection = SqliteConnection(path)
    await connection.execute("PRAGMA user_version = 99")
    await connection.close()
    connection, notice = open_database(path)
    with pytest.raises(StorageError) as caught:
        await Store(connection).open()
    assert (caught.value.code, notice, copies(path)) == ("newer", "", [])
    await connection.close()


async def test_the_damaged_page_holds_rows_of_a_table(tmp_path: Path) -> None:
    """The damage would test nothing if the word stood in a page that nobody reads."""
    path = tmp_path / "threads.db"
    await fill(path)
    good = path.read_bytes()
    assert good[good.index(WORD) // PAGE * PAGE] == 13  # a leaf of a table
