"""What a store does, whatever database is under it: plain functions that run in pytest, and in Pyodide over the page's.

Each gets a fresh, opened store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from py_agent.model.errors import StorageError
from py_agent.model.record import Source, StoredMessage, StoredThought, StoredToolCall, TurnRecord
from py_agent.storage.store import Store

SOURCE = Source(passage="p1", page="a.html", anchor="x", url="a.html#x", title="A", path=("A", "X"), quote="Zitat „ä“")


def record(question: str, thread: str = "t1", turn: str = "turn1") -> TurnRecord:
    """A turn that answers ``question``."""
    return TurnRecord(
        turn=turn,
        thread=thread,
        question=question,
        answer=StoredMessage(
            id=f"answer-{turn}",
            thread=thread,
            turn=turn,
            role="assistant",
            content="**Yes** 🙂",
            model_content="Yes",
            status="answered",
            sources=(SOURCE,),
        ),
        tool_calls=(
            StoredToolCall(
                id=f"call-{turn}", tool="search_docs", arguments={"query": "ä"}, checksum="c", shown="h", spool_key="k"
            ),
        ),
        thoughts=(StoredThought(id=f"thought-{turn}", kind="plan", text="search first"),),
    )


async def a_question_is_stored_as_open_before_anything_else(store: Store) -> None:
    question = await store.open_question("t1", "Does it?", "turn")
    (message,) = await store.history("t1")
    assert (message.id, message.role, message.state, message.content) == (question, "user", "open", "Does it?")
    assert await store.latest_thread() == "t1"


async def a_committed_turn_comes_back_whole(store: Store) -> None:
    turn = record(await store.open_question("t1", "Does it?", "turn"))
    await store.commit_turn(turn)
    question, answer = await store.history("t1")
    assert (question.state, question.turn) == ("done", "turn1")
    assert answer == turn.answer
    assert await store.tool_calls("t1") == list(turn.tool_calls)
    assert await store.thoughts("t1") == list(turn.thoughts)


async def a_turn_that_cannot_be_written_whole_leaves_no_trace(store: Store) -> None:
    first = record(await store.open_question("t1", "One?", "turn"))
    await store.commit_turn(first)
    question = await store.open_question("t1", "Two?", "turn")
    clashing = record(question, turn="turn2").model_copy(update={"answer": first.answer})
    try:
        await store.commit_turn(clashing)
    except StorageError:
        pass
    else:
        raise AssertionError("a clash of ids was not refused")
    assert [message.state for message in await store.history("t1")] == ["done", "done", "open"]
    assert len(await store.tool_calls("t1")) == 1


async def only_open_questions_become_interrupted(store: Store) -> None:
    done = await store.open_question("t1", "One?", "turn")
    await store.commit_turn(record(done))
    open_question = await store.open_question("t1", "Two?", "turn")
    await store.mark_interrupted(done)
    await store.mark_interrupted(open_question)
    assert [message.state for message in await store.history("t1")] == ["done", "done", "interrupted"]


async def what_a_killed_tab_left_open_is_marked_at_the_next_start(store: Store) -> None:
    await store.open_question("t1", "One?", "turn")
    await store.open_question("t2", "Two?", "turn")
    await store.interrupt_open_questions()
    states = [message.state for thread in ("t1", "t2") for message in await store.history(thread)]
    assert states == ["interrupted", "interrupted"]


async def the_latest_thread_is_the_one_that_was_started_last(store: Store) -> None:
    assert await store.latest_thread() is None
    first = await store.new_thread()
    second = await store.new_thread()
    assert first != second
    await store.open_question(first, "in the older one", "turn")
    assert await store.latest_thread() == second
    assert await store.history(second) == []


async def questions_that_come_together_are_all_kept(store: Store) -> None:
    await asyncio.gather(*(store.open_question("t1", f"question {number}", "turn") for number in range(20)))
    assert len(await store.history("t1")) == 20


ALL: tuple[Callable[[Store], Awaitable[None]], ...] = (
    a_question_is_stored_as_open_before_anything_else,
    a_committed_turn_comes_back_whole,
    a_turn_that_cannot_be_written_whole_leaves_no_trace,
    only_open_questions_become_interrupted,
    what_a_killed_tab_left_open_is_marked_at_the_next_start,
    the_latest_thread_is_the_one_that_was_started_last,
    questions_that_come_together_are_all_kept,
)
