"""What a store does, whatever database is under it: plain functions that run in pytest, and in Pyodide over the page's.

Each gets a fresh, opened store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from py_agent.model.errors import StorageError
from py_agent.model.identity import READER
from py_agent.model.instruction import StandingInstruction
from py_agent.model.memory import Memory
from py_agent.model.record import (
    Feedback,
    Source,
    StoredArtifact,
    StoredMessage,
    StoredThought,
    StoredToolCall,
    ThreadHit,
    TurnRecord,
)
from py_agent.storage.deletion import delete_all, delete_thread
from py_agent.storage.export import MAX_FILE_BYTES, export_thread, import_thread
from py_agent.storage.keys import sweep, trace_key
from py_agent.storage.spool import MemorySpool
from py_agent.storage.store import Store
from py_agent.storage.threads import MAX_TITLE_CHARS

SOURCE = Source(passage="p1", page="a.html", anchor="x", url="a.html#x", title="A", path=("A", "X"), quote="Zitat „ä“")


def record(question: str, thread: str = "t1", turn: str = "turn1", answer: str = "**Yes** 🙂") -> TurnRecord:
    """A turn that answers ``question``."""
    key = f"turns/{turn}/call_0"
    return TurnRecord(
        turn=turn,
        thread=thread,
        question=question,
        answer=StoredMessage(
            id=f"answer-{turn}",
            thread=thread,
            turn=turn,
            role="assistant",
            content=answer,
            model_content="Yes",
            status="answered",
            sources=(SOURCE,),
        ),
        tool_calls=(
            StoredToolCall(
                id=f"call-{turn}", tool="search_docs", arguments={"query": "ä"}, checksum="c", shown="h", spool_key=key
            ),
        ),
        thoughts=(StoredThought(id=f"thought-{turn}", kind="plan", text="search first"),),
        artifacts=(StoredArtifact(key=key, kind="markdown", bytes=6, lines=2, thread=thread, turn=turn),),
    )


async def ask(store: Store, question: str, thread: str, turn: str, answer: str = "Yes") -> TurnRecord:
    """A whole turn."""
    turned = record(await store.open_question(thread, question, turn), thread, turn, answer)
    await store.commit_turn(turned)
    return turned


async def refused(work: Awaitable[object]) -> StorageError:
    """The error of what must be refused."""
    try:
        await work
    except StorageError as error:
        return error
    raise AssertionError("it was not refused")


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
    assert await store.artifacts("t1") == list(turn.artifacts)


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


async def a_thread_is_called_after_its_first_question_until_it_gets_a_name(store: Store) -> None:
    await store.open_question("t1", "How  do I\ninstall it?", "turn")
    await store.open_question("t1", "And then?", "turn")
    await store.open_question("t2", "x" * 500, "turn")
    assert (await store.list_threads()).threads[1].title == "How do I install it?"
    assert len((await store.list_threads()).threads[0].title) == MAX_TITLE_CHARS
    assert await store.rename_thread("t1", " My\n title ")
    assert not await store.rename_thread("t9", "x")
    thread = await store.thread("t1")
    assert thread is not None
    assert (thread.title, thread.messages) == ("My title", 2)


async def the_list_of_threads_comes_in_pages_the_last_changed_first(store: Store) -> None:
    for number in range(5):
        await store.open_question(f"t{number}", "Q", "turn")
    await store.commit_turn(
        TurnRecord(
            turn="x",
            thread="t1",
            question="q",
            answer=StoredMessage(id="a", thread="t1", role="assistant", content="Yes", created_at=32_000_000_000_000),
        )
    )
    seen: list[str] = []
    cursor = None
    while True:
        page = await store.list_threads(2, cursor)
        assert len(page.threads) <= 2
        seen += [thread.id for thread in page.threads]
        cursor = page.next
        if cursor is None:
            break
    assert seen == ["t1", "t4", "t3", "t2", "t0"]
    assert (await refused(store.list_threads(2, "1; DROP TABLE threads"))).code == "bad_cursor"


async def words_are_found_in_any_case_and_as_beginnings_in_one_message(store: Store) -> None:
    await ask(store, "How is the LANTERN lit?", "t1", "turn1", "With a **match**, über alles")
    await ask(store, "Where is the match?", "t2", "turn2", "In the box")
    await store.rename_thread("t2", "Boxes and crates")

    async def found(query: str) -> list[str]:
        return sorted(hit.thread for hit in await store.search_threads(query))

    assert await found("lantern") == ["t1"]
    assert await found("lant IS") == ["t1"]
    assert await found("match") == ["t1", "t2"]
    assert await found("lantern box") == []
    assert await found("ÜBER") == await found("uber") == ["t1"]
    assert await found("crates") == ["t2"]
    assert await found("antern") == []
    (hit,) = await store.search_threads("lantern")
    assert ("LANTERN", True) in hit.snippet
    assert "".join(text for text, _ in hit.snippet) == "How is the LANTERN lit?"
    assert (hit.role, hit.title) == ("user", "How is the LANTERN lit?")
    assert len(await store.search_threads("match", 1)) == 1


async def words_of_scripts_without_spaces_are_found_inside_runs(store: Store) -> None:
    await store.open_question("t1", "ランタンの設定方法を教えてください install", "turn")
    await store.open_question("t2", "installation", "turn")
    hits: list[ThreadHit] = await store.search_threads("設定")
    assert [hit.thread for hit in hits] == ["t1"]
    assert ("設定", True) in hits[0].snippet
    assert [hit.thread for hit in await store.search_threads("設定 inst")] == ["t1"]
    assert await store.search_threads("設置") == []


async def a_query_is_words_and_never_syntax(store: Store) -> None:
    await store.open_question("t1", 'say "NEAR" AND near OR content:x* 100% a_b (c) ^d', "turn")
    for query in (
        '"', '""', "'", "*", "a*", "AND", "OR", "NOT", "NEAR(", "NEAR(a b, 2)", "content:near", "-near", "^near", "(",
        ")", "{", "a AND", "+", "\\", "%", "_", "100%", "a_b", "\x00", "near\x00", ";--", "' OR 1=1 --", "🙂", "\u0301",
        "x" * 10_000, " ".join(["word"] * 1_000), "", " ", "²", "ª", "\ud800",
    ):  # fmt: skip
        await store.search_threads(query)
    assert [hit.thread for hit in await store.search_threads('"NEAR" AND')] == ["t1"]
    assert await store.search_threads("1%0 a") == []
    assert await store.search_threads("%") == await store.search_threads("_") == []


async def search_follows_what_is_changed_and_deleted(store: Store) -> None:
    await ask(store, "Where is the walrus?", "t1", "turn1")
    await ask(store, "Where is the walrus?", "t2", "turn2")
    await delete_thread(store, MemorySpool(), "t1")
    assert [hit.thread for hit in await store.search_threads("walrus")] == ["t2"]


async def a_deleted_thread_takes_its_rows_its_results_and_its_traces_along(store: Store) -> None:
    spool = MemorySpool()
    for thread, turn in (("t1", "turn1"), ("t1", "turn2"), ("t2", "turn3")):
        turned = await ask(store, "Q", thread, turn)
        await store.set_feedback(Feedback(message=turned.answer.id, verdict="up"))
        await spool.write(f"turns/{turn}/call_0", b"bytes")
        await spool.write(trace_key(thread, turn), b"trace")
        await store.add_trace(thread, turn, trace_key(thread, turn), 5, 1_000)
    assert await delete_thread(store, spool, "t1")
    assert not await delete_thread(store, spool, "t1")
    assert await store.history("t1") == await store.tool_calls("t1") == await store.thoughts("t1") == []
    assert await store.artifacts("t1") == await store.traces("t1") == []
    assert await store.feedback("t1") == {}
    assert [thread.id for thread in (await store.list_threads()).threads] == ["t2"]
    assert len(await store.history("t2")) == 2
    assert await spool.delete("turns/turn3/") == await spool.delete("traces/t2/") == 1
    assert await spool.delete("") == 0


async def a_deletion_that_was_cut_short_is_ended_by_the_next_start(store: Store) -> None:
    spool = MemorySpool()
    await ask(store, "Q", "t1", "turn1")
    await spool.write("turns/turn1/call_0", b"bytes")
    await store.remove_thread("t1", ["turns/turn1/"])  # and here the tab is killed
    await sweep(store, spool)
    assert await spool.delete("") == 0
    assert await store.pending() == []


async def deleting_everything_leaves_nothing(store: Store) -> None:
    spool = MemorySpool()
    turned = await ask(store, "Q", "t1", "turn1")
    await store.set_feedback(Feedback(message=turned.answer.id, verdict="down", text="no"))
    await store.add_memory(Memory(id="m", content="c", trust="reader", source="turn1"))
    await store.add_instruction(StandingInstruction(id="i", text="Be short."))
    await spool.write("anything", b"bytes")
    await delete_all(store, spool)
    assert (await store.list_threads()).threads == ()
    assert await store.list_memories() == await store.instructions() == []
    assert await spool.delete("") == 0
    await ask(store, "A new start", "t1", "turn1")
    assert len(await store.history("t1")) == 2


async def memories_come_back_by_shared_words_and_the_newest_without_any(store: Store) -> None:
    first = Memory(id="1", content="The reader uses Windows 11.", trust="reader", source="turn", importance=0.9)
    second = Memory(
        id="2", content="The reader works with Python lanterns.", trust="model", source="turn", confidence=0.5
    )
    third = Memory(id="3", content="ランタンの設定", trust="site", source="a.html")
    for memory in (first, second, third):
        await store.add_memory(memory)
    assert await store.search_memories("", 2) == [third, second]
    assert await store.search_memories("lantern in python", 5) == [second]
    assert await store.search_memories("reader windows", 5) == [first, second]
    assert await store.search_memories("設定", 5) == [third]
    assert await store.search_memories("zebra", 5) == []
    assert await store.list_memories() == [third, second, first]
    assert await store.delete_memory("2")
    assert not await store.delete_memory("2")
    assert await store.list_memories() == [third, first]


async def standing_instructions_are_kept_changed_and_dropped_in_their_order(store: Store) -> None:
    for name in ("a", "b"):
        await store.add_instruction(StandingInstruction(id=name, text=f"Text {name}", author=READER))
    await store.add_instruction(StandingInstruction(id="a", text="Changed"))
    assert [one.text for one in await store.instructions()] == ["Changed", "Text b"]
    assert await store.delete_instruction("a")
    assert not await store.delete_instruction("a")
    assert [(one.id, one.author) for one in await store.instructions()] == [("b", READER)]


async def feedback_is_set_changed_and_taken_back(store: Store) -> None:
    turned = await ask(store, "Q", "t1", "turn1")
    up = Feedback(message=turned.answer.id, verdict="up")
    down = Feedback(message=turned.answer.id, verdict="down", text="It is wrong.")
    await store.set_feedback(up)
    assert await store.feedback("t1") == {turned.answer.id: up}
    await store.set_feedback(down)
    assert await store.feedback("t1") == {turned.answer.id: down}
    assert await store.remove_feedback(turned.answer.id)
    assert not await store.remove_feedback(turned.answer.id)
    assert await store.feedback("t1") == {}
    for message in ("nothing", turned.question):
        assert (await refused(store.set_feedback(Feedback(message=message, verdict="up")))).code == "no_such_message"


async def the_oldest_traces_go_first_and_never_a_message(store: Store) -> None:
    await ask(store, "Q", "t1", "turn0")
    await ask(store, "Q", "t2", "turn9")
    await store.add_trace("t2", "turn9", "other", 1_000, 1_000)
    for number in range(4):
        assert await store.add_trace("t1", f"turn{number}", f"k{number}", 30, 120) == []
    assert await store.add_trace("t1", "turn4", "k4", 70, 120) == ["k0", "k1", "k2"]
    assert await store.traces("t1") == [("k3", 30), ("k4", 70)]
    assert await store.add_trace("t1", "turn5", "k5", 999, 120) == ["k3", "k4"]
    assert await store.traces("t1") == [("k5", 999)]
    assert await store.traces("t2") == [("other", 1_000)]
    assert len(await store.history("t1")) == 2


async def the_trace_of_a_killed_turn_is_noted_by_the_next_start(store: Store) -> None:
    spool = MemorySpool()
    await store.open_question("t1", "Q", "turn1")
    await spool.write("turns/turn1/call_0", b"bytes")
    await spool.append(trace_key("t1", "turn1"), b"12345")
    await store.open_question("t2", "Q", "turn2")
    assert await sweep(store, spool) == 2
    assert await store.traces("t1") == [(trace_key("t1", "turn1"), 5)]
    assert await spool.delete("turns/") == 0


async def words_that_came_too_late_cost_a_committed_turn_nothing(store: Store) -> None:
    spool = MemorySpool()
    question = await store.open_question("t1", "One?", "turn1")
    late = await store.open_question("t1", "And two?", "turn1")
    await store.commit_turn(record(question))
    await spool.write("turns/turn1/call_0", b"bytes")
    # The tab was killed before the late words were marked.
    assert await sweep(store, spool) == 0
    assert {message.id: message.state for message in await store.history("t1")}[late] == "interrupted"
    assert await spool.read("turns/turn1/call_0") == b"bytes"


async def a_thread_comes_back_from_its_file_whole(store: Store) -> None:
    spool = MemorySpool()
    turned = await ask(store, "Does it? \x00 🙂", "t1", "turn1")
    await store.set_feedback(Feedback(message=turned.answer.id, verdict="down", text="Why?"))
    await spool.write("turns/turn1/call_0", b"\x00\xff\n123")
    history, calls, thoughts = await store.history("t1"), await store.tool_calls("t1"), await store.thoughts("t1")
    artifacts, feedback = await store.artifacts("t1"), await store.feedback("t1")
    text = await export_thread(store, spool, "t1")
    await delete_thread(store, spool, "t1")
    assert await import_thread(store, spool, text) == "t1"
    assert await store.history("t1") == history
    assert await store.tool_calls("t1") == calls
    assert await store.thoughts("t1") == thoughts
    assert await store.artifacts("t1") == artifacts
    assert await store.feedback("t1") == feedback
    assert await spool.read("turns/turn1/call_0") == b"\x00\xff\n123"
    assert await store.pending() == []
    assert [hit.thread for hit in await store.search_threads("does")] == ["t1"]


async def a_result_that_only_its_call_names_is_in_the_file_too(store: Store) -> None:
    spool = MemorySpool()
    turned = record(await store.open_question("t1", "Does it?", "turn1"))
    await store.commit_turn(turned.model_copy(update={"artifacts": ()}))
    await spool.write("turns/turn1/call_0", b"123456")
    text = await export_thread(store, spool, "t1")
    await delete_thread(store, spool, "t1")
    await import_thread(store, spool, text)
    assert await spool.read("turns/turn1/call_0") == b"123456"
    assert [call.spool_key for call in await store.tool_calls("t1")] == ["turns/turn1/call_0"]


async def ids_that_are_taken_are_replaced_together(store: Store) -> None:
    spool = MemorySpool()
    turned = await ask(store, "Does it?", "t1", "turn1")
    await store.set_feedback(Feedback(message=turned.answer.id, verdict="up"))
    await spool.write("turns/turn1/call_0", b"123456")
    text = await export_thread(store, spool, "t1")
    copy = await import_thread(store, spool, text)
    assert copy != "t1"
    old, new = await store.history("t1"), await store.history(copy)
    assert [message.content for message in new] == [message.content for message in old]
    assert not {message.id for message in new} & {message.id for message in old}
    assert {message.turn for message in new} == {new[0].turn} != {"turn1"}
    (call,) = await store.tool_calls(copy)
    assert call.spool_key == f"turns/{new[0].turn}/call_0"
    assert await spool.read(call.spool_key) == b"123456"
    assert list(await store.feedback(copy)) == [new[1].id]
    await delete_thread(store, spool, copy)
    assert await spool.read("turns/turn1/call_0") == b"123456"


async def a_file_that_is_no_export_is_refused_and_changes_nothing(store: Store) -> None:
    spool = MemorySpool()
    await ask(store, "Does it?", "t1", "turn1")
    await spool.write("turns/turn1/call_0", b"123456")
    good = await export_thread(store, spool, "t1")
    await delete_thread(store, spool, "t1")
    for bad in (
        "", "{}", "[]", "null", "\x00", "\ud800", "[" * 100_000, '{"a":' * 100_000, good[:-20], good + "x",
        good.replace('"version": 1', '"version": 2'),
        good.replace('"py-agent-thread"', '"something"'),
        good.replace('"thread": {', '"evil": 1, "thread": {'),
        good.replace('"role": "user"', '"role": "system"'),
        good.replace('"content": "Does it?"', '"content": 7'),
        good.replace('"created_at": 1', '"created_at": -1'),
        good.replace('"id": "answer-turn1"', '"id": "thought-turn1"'),
        good.replace('"key": "turns/turn1/call_0"', '"key": "turns/other/call_0"'),
        good.replace('"key": "turns/turn1/call_0"', '"key": "traces/x"'),
        good.replace('"data": "MTIz', '"data": "!!!!'),
        good.replace('"bytes": 6', '"bytes": 7'),
        good.replace('"lines": ', '"lines": 9223372036854775808'),
        good.replace('"arguments": {', '"arguments": {"a": ' + "[" * 5_000 + "]" * 5_000 + ","),
        " " * (MAX_FILE_BYTES + 1),
    ):  # fmt: skip
        error = await refused(import_thread(store, spool, bad))
        assert error.code == "bad_file", bad[:100]
        assert error.hint
    assert (await store.list_threads()).threads == ()
    assert await spool.delete("") == 0
    assert await store.pending() == []
    assert (await refused(export_thread(store, spool, "t1"))).code == "no_such_thread"


ALL: tuple[Callable[[Store], Awaitable[None]], ...] = (
    a_question_is_stored_as_open_before_anything_else,
    a_committed_turn_comes_back_whole,
    a_turn_that_cannot_be_written_whole_leaves_no_trace,
    only_open_questions_become_interrupted,
    what_a_killed_tab_left_open_is_marked_at_the_next_start,
    the_latest_thread_is_the_one_that_was_started_last,
    questions_that_come_together_are_all_kept,
    a_thread_is_called_after_its_first_question_until_it_gets_a_name,
    the_list_of_threads_comes_in_pages_the_last_changed_first,
    words_are_found_in_any_case_and_as_beginnings_in_one_message,
    words_of_scripts_without_spaces_are_found_inside_runs,
    a_query_is_words_and_never_syntax,
    search_follows_what_is_changed_and_deleted,
    a_deleted_thread_takes_its_rows_its_results_and_its_traces_along,
    a_deletion_that_was_cut_short_is_ended_by_the_next_start,
    deleting_everything_leaves_nothing,
    memories_come_back_by_shared_words_and_the_newest_without_any,
    standing_instructions_are_kept_changed_and_dropped_in_their_order,
    feedback_is_set_changed_and_taken_back,
    the_oldest_traces_go_first_and_never_a_message,
    the_trace_of_a_killed_turn_is_noted_by_the_next_start,
    words_that_came_too_late_cost_a_committed_turn_nothing,
    a_thread_comes_back_from_its_file_whole,
    a_result_that_only_its_call_names_is_in_the_file_too,
    ids_that_are_taken_are_replaced_together,
    a_file_that_is_no_export_is_refused_and_changes_nothing,
)
