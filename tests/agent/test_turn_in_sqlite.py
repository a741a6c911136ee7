"""The same turns over the real store: what a reload finds."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from py_agent.agent import DocsAgent
from py_agent.engines.extractive import ExtractiveEngine
from py_agent.runner.events import Event
from py_agent.storage.spool import MemorySpool
from py_agent.storage.sqlite import SqliteConnection
from py_agent.storage.store import Store
from tests.harness import WordSearch, passage

PASSAGES = [passage(f"p{n}", f"A webhook has part {n}. " * 30 + f"The timeout of part {n} is {n} s.") for n in range(4)]
QUESTION = "How long is the webhook timeout?"


async def opened(path: Path) -> tuple[SqliteConnection, Store]:
    connection = SqliteConnection(path)
    store = Store(connection)
    await store.open()
    return connection, store


async def test_a_thread_is_found_again_with_its_sources(tmp_path: Path) -> None:
    connection, store = await opened(tmp_path / "threads.db")
    agent = DocsAgent(ExtractiveEngine(), WordSearch(PASSAGES), store, MemorySpool())
    events: list[Event] = []
    end = await agent.run_turn("t", QUESTION, emit=events.append)
    assert end.status == "answered"
    await connection.close()
    connection, store = await opened(tmp_path / "threads.db")
    question, answer = await store.history("t")
    assert (question.content, question.state) == (QUESTION, "done")
    assert (answer.content, answer.status, answer.sources) == (end.answer, "answered", end.sources)
    assert answer.id == end.message
    await connection.close()


@pytest.mark.parametrize("steps", [1, 3, 5, 8, 13, 21, 34, 55])
async def test_a_stopped_turn_is_interrupted_or_whole(tmp_path: Path, steps: int) -> None:
    connection, store = await opened(tmp_path / "threads.db")
    agent = DocsAgent(ExtractiveEngine(), WordSearch(PASSAGES), store, MemorySpool())
    events: list[Event] = []
    task = asyncio.ensure_future(agent.run_turn("t", QUESTION, emit=events.append))
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    states = [message.state for message in await store.history("t")]
    assert states in (["interrupted"], ["done", "done"])
    rows = await connection.execute("SELECT count(*) AS calls FROM tool_calls")
    assert (rows[0]["calls"] > 0) == (states == ["done", "done"])
    await connection.close()
