"""Deleted words stand in no file any more: not in the database, its log, its index, the spool, or a copy set aside."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from py_agent.model.errors import StorageError
from py_agent.model.instruction import StandingInstruction
from py_agent.model.memory import Memory
from py_agent.model.record import Feedback
from py_agent.storage import sqlite
from py_agent.storage.deletion import delete_all, delete_thread
from py_agent.storage.export import import_thread
from py_agent.storage.keys import sweep, trace_key, turn_prefix
from py_agent.storage.spool import FolderSpool
from py_agent.storage.sqlite import SqliteConnection, open_database
from py_agent.storage.store import Store, new_id
from tests.storage import behaviours


class Site:
    """A database and a spool in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "threads.db"
        self.spool = FolderSpool(folder / "spool")
        self.notice = ""

    async def open(self) -> Store:
        connection, self.notice = open_database(self.path)
        self.store = Store(connection)
        await self.store.open()
        return self.store

    def files_with(self, word: str) -> list[str]:
        """Files in which the word stands, in any case."""
        found = []
        for path in self.folder.rglob("*"):
            if path.is_file() and word.lower().encode() in path.read_bytes().lower():
                found.append(path.name)
        return found


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


async def talk(site: Site, thread: str, turn: str, word: str) -> None:
    """A turn with the word in every place that a turn has."""
    store = site.store
    turned = behaviours.record(
        await store.open_question(thread, f"Why {word}?", turn), thread, turn, f"As {word}. " * 30
    )
    (call,), (thought,) = turned.tool_calls, turned.thoughts
    turned = turned.model_copy(
        update={
            "tool_calls": (call.model_copy(update={"shown": f"shown {word}", "arguments": {"query": word}}),),
            "thoughts": (thought.model_copy(update={"text": f"thinking of {word}"}),),
            "answer": turned.answer.model_copy(update={"model_content": f"{word} for the model"}),
        }
    )
    await store.commit_turn(turned)
    await store.set_feedback(Feedback(message=turned.answer.id, verdict="down", text=f"{word} is wrong"))
    await site.spool.write(f"{turn_prefix(turn)}call_0", f"result {word}".encode())
    await site.spool.append(trace_key(thread, turn), f"trace {word}".encode())
    await store.add_trace(thread, turn, trace_key(thread, turn), 20, 1_000)


async def test_a_deleted_thread_stands_in_no_file_while_the_database_is_open(site: Site) -> None:
    await site.open()
    await talk(site, "t1", "turn1", "Walrossgeheimnis")
    await talk(site, "t2", "turn2", "Seehundgeheimnis")
    await site.store.rename_thread("t1", "Walrossgeheimnis")
    assert len(set(site.files_with("walrossgeheimnis"))) >= 3  # the log, or the database, and two in the spool
    assert await delete_thread(site.store, site.spool, "t1")
    assert site.files_with("walrossgeheimnis") == []
    assert site.files_with("seehundgeheimnis") != []
    assert [hit.thread for hit in await site.store.search_threads("seehundgeheimnis")] == ["t2"]
    await site.store.close()
    assert site.files_with("walrossgeheimnis") == []


@pytest.mark.parametrize("seed", range(6))
async def test_any_order_of_turns_and_deletions_leaves_no_deleted_word(site: Site, seed: int) -> None:
    """Pages that fill, split and empty, and an index that merges, must not keep copies of what moved through them."""
    chance = random.Random(seed)
    await site.open()
    kept: dict[str, list[str]] = {}
    gone: list[str] = []
    for number in range(60):
        if kept and chance.random() < 0.35:
            thread = chance.choice(sorted(kept))
            await delete_thread(site.store, site.spool, thread)
            gone += kept.pop(thread)
        else:
            thread = chance.choice([*sorted(kept), f"t{number}"])
            word = f"geheim{chance.getrandbits(64):016x}"
            await talk(site, thread, new_id(), word)
            kept.setdefault(thread, []).append(word)
        if chance.random() < 0.1:
            await site.store.close()
            await site.open()
    content = b"".join(path.read_bytes().lower() for path in site.folder.rglob("*") if path.is_file())
    assert gone
    assert [word for word in gone if word.encode() in content] == []
    # The index cuts what words share at their beginning: look for what is left of them, too.
    assert [word for word in gone if word[-12:].encode() in content] == []
    assert [word for words in kept.values() for word in words if word.encode() not in content] == []


async def test_memories_instructions_and_feedback_go_as_thoroughly(site: Site) -> None:
    store = await site.open()
    turned = await behaviours.ask(store, "Q", "t1", "turn1")
    await store.add_memory(Memory(id="m", content="Walrossgeheimnis", trust="reader", source="turn1"))
    await store.add_instruction(StandingInstruction(id="i", text="Walrossgeheimnis"))
    await store.set_feedback(Feedback(message=turned.answer.id, verdict="down", text="Walrossgeheimnis"))
    await store.delete_memory("m")
    await store.delete_instruction("i")
    await store.remove_feedback(turned.answer.id)
    assert site.files_with("walrossgeheimnis") == []
    await store.close()


async def test_deleting_everything_empties_every_file_and_copy(site: Site) -> None:
    await site.open()
    await talk(site, "t1", "turn1", "Walrossgeheimnis")
    await site.store.close()
    broken = site.path.read_bytes()
    site.path.write_bytes(broken[: len(broken) // 2] + b"\1" * (len(broken) // 2) + b"walrossgeheimnis")
    store = await site.open()
    assert site.notice
    await talk(site, "t2", "turn2", "Seehundgeheimnis")
    assert len(site.files_with("walrossgeheimnis")) >= 3
    await delete_all(store, site.spool)
    assert site.files_with("walrossgeheimnis") == site.files_with("seehundgeheimnis") == []
    assert not list(site.folder.glob("*set-aside*"))
    await store.close()


async def test_a_copy_goes_with_the_one_thread_that_it_holds_and_stays_with_others(site: Site) -> None:
    await site.open()
    await talk(site, "t1" * 16, "turn1", "Walrossgeheimnis")
    text = await behaviours.export_thread(site.store, site.spool, "t1" * 16)
    await site.store.close()
    with site.path.open("r+b") as file:
        file.truncate(site.path.stat().st_size - 1_000)
    store = await site.open()
    assert site.notice
    await talk(site, "t2", "turn2", "Seehundgeheimnis")
    await delete_thread(store, site.spool, "t2")
    assert len(list(site.folder.glob("*set-aside*"))) == 1
    await delete_thread(store, site.spool, await import_thread(store, site.spool, text))
    assert site.files_with("walrossgeheimnis") == []
    await store.close()


async def test_a_program_that_reads_the_file_makes_the_deletion_say_so(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.05)
    store = await site.open()
    await talk(site, "t1", "turn1", "Walrossgeheimnis")
    reader = SqliteConnection(site.path)
    await reader.execute("BEGIN")
    await reader.execute("SELECT * FROM messages")
    with pytest.raises(StorageError) as caught:
        await delete_thread(store, site.spool, "t1")
    assert caught.value.code == "busy"
    assert await store.pending() != []
    await reader.execute("COMMIT")
    await reader.close()
    await sweep(store, site.spool)
    assert site.files_with("walrossgeheimnis") == []
    assert await store.pending() == []
    await store.close()
