"""A traced turn runs again from its trace alone; what would be different is found and shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.errors import EngineError
from py_agent.replay import replay
from py_agent.storage.keys import trace_key
from py_agent.trace.lines import decode
from py_agent.trace.tracing import Tracing
from tests.agent.test_reader_in_a_turn import WaitingEngine, asking_tool, turn_id
from tests.harness import PLAN, World, call, passage

LONG = "The lantern is a lamp for the dark months, and it is carried by its handle. " * 30
DOCS = [passage("p1", f"The light goes on with lantern on. {LONG}"), passage("p2", "Nothing.", page="other.html")]
SEARCH = call("search_docs", query="light lantern")
READ = call("artifact_cat", call_id="c1")
ANSWER = call(
    "provide_answer", answer="On.", sources=[{"passage": "p1", "quote": "The light goes on with lantern on."}]
)


def world(engine: Any, **config: Any) -> World:
    return World(engine, DOCS, tracing=lambda spool: Tracing(spool, trace_key), **config)


async def trace_of(made: World, number: int = -1) -> bytes:
    keys = [key for key in made.spool._data if key.startswith("traces/")]
    return await made.spool.read(keys[number])


async def lines_of(made: World, number: int = -1) -> list[dict[str, Any]]:
    return decode(await trace_of(made, number))


async def test_a_turn_with_plan_search_reading_and_a_held_answer_comes_again() -> None:
    wrong = call("provide_answer", answer="On.", sources=[{"passage": "p1", "quote": "Words that do not stand there."}])
    made = world(ScriptedEngine([PLAN, SEARCH, call("artifact_cat", call_id="c2"), wrong, ANSWER]))
    assert (await made.ask("How do I turn it on?")).status == "answered"
    report = await replay(await lines_of(made))
    assert report.departure is None
    assert report.complete
    assert report.events > 30


async def test_the_thread_before_the_turn_is_in_its_trace() -> None:
    made = world(ScriptedEngine([SEARCH, READ, ANSWER] * 2), planner=False)
    await made.ask("How do I turn it on?")
    await made.ask("And again?")
    lines = await lines_of(made)
    assert (await replay(lines)).departure is None
    prompts = [line["event"]["prompt"] for line in lines if line["k"] == "event" and "prompt" in line["event"]]
    assert all("How do I turn it on?" in prompt for prompt in prompts)
    assert prompts == made.prompts[3:]


async def test_prompts_and_completions_are_kept_byte_for_byte() -> None:
    made = world(ScriptedEngine([SEARCH, READ, ANSWER], chunk_size=1), planner=False)
    await made.ask("How do I turn it on? 🙂 <|turn>")
    lines = await lines_of(made)
    events = [line["event"] for line in lines if line["k"] == "event"]
    assert [event["prompt"] for event in events if event["type"] == "request_start"] == made.prompts
    assert [event["completion"] for event in events if event["type"] == "request_end"] == [SEARCH, READ, ANSWER]
    assert "".join(
        chunk.get("text", "") for line in lines if line["k"] == "chunks" for chunk in line["chunks"]
    ) == "".join([SEARCH, READ, ANSWER])


async def test_shared_prefixes_are_stored_once() -> None:
    made = world(
        ScriptedEngine([SEARCH, READ, READ, call("artifact_cat", call_id="c1", start=2), ANSWER]), planner=False
    )
    await made.ask("How do I turn it on?")
    told = sum(
        len(json.loads(raw)["event"]["prompt"]["add"])
        for raw in (await trace_of(made)).splitlines()
        if b'"request_start"' in raw
    )
    assert told < len(made.prompts[-1]) * 1.1 < sum(map(len, made.prompts)) / 2


async def test_an_engine_error_comes_again() -> None:
    made = world(ScriptedEngine([SEARCH, EngineError("The GPU is gone.", hint="Reload.", code="lost")]), planner=False)
    assert (await made.ask("How do I turn it on?")).status == "failed"
    assert (await replay(await lines_of(made))).departure is None


@pytest.mark.parametrize("value", [True, False, None])
async def test_what_the_reader_decided_is_decided_again(value: bool | None) -> None:
    made = world(ScriptedEngine([call("ring"), "The bell is quiet."]), tools=asking_tool, planner=False)
    turn = asyncio.ensure_future(made.ask("Ring it.", interactive=True))
    while not made.of("gate_open"):
        await asyncio.sleep(0)
    if value is None:
        made.agent.expire_gate(turn_id(made), "g1")
    else:
        made.agent.resolve_gate(turn_id(made), "g1", value)
    await turn
    lines = await lines_of(made)
    assert (await replay(lines)).departure is None


async def test_what_the_reader_added_is_added_again_at_its_place() -> None:
    engine = WaitingEngine([SEARCH, READ, ANSWER, ANSWER])
    made = world(engine, planner=False)
    turn = asyncio.ensure_future(made.ask("How do I turn it on?"))
    await engine.next()
    await engine.next()
    await engine.asked.wait()
    await made.agent.add(turn_id(made), "In the dark!")
    await engine.next()
    await engine.next()
    assert (await turn).status == "answered"
    assert (await replay(await lines_of(made))).departure is None


async def test_what_the_reader_added_before_the_first_request_is_added_before_it_again() -> None:
    made = world(ScriptedEngine([SEARCH, READ, ANSWER]), planner=False)

    async def prepare() -> None:
        await made.agent.add(turn_id(made), "In the dark!")

    made.agent._prepare = prepare
    assert (await made.ask("How do I turn it on?")).status == "answered"
    lines = await lines_of(made)
    assert "In the dark!" in made.prompts[0]
    assert (await replay(lines)).departure is None


async def stopped() -> World:
    engine = ScriptedEngine([SEARCH, READ, "x" * 100_000], delay=0.001)
    made = world(engine, planner=False)
    turn = asyncio.ensure_future(made.ask("How do I turn it on?"))
    while len(made.prompts) < 3:
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    return made


async def test_a_stopped_turn_comes_again_up_to_the_stop() -> None:
    report = await replay(await lines_of(await stopped()))
    assert report.departure is None
    assert report.events > 10


async def test_the_trace_of_a_killed_turn_comes_again_wherever_it_was_cut() -> None:
    made = world(ScriptedEngine([SEARCH, READ, ANSWER]), planner=False)
    await made.ask("How do I turn it on?")
    whole = await trace_of(made)
    at = whole.index(b"\n") + 1
    cuts = 0
    while at < len(whole):
        report = await replay(decode(whole[: at + 5]))
        assert report.departure is None, report
        at = whole.index(b"\n", at) + 1
        cuts += 1
    assert cuts > 20


def change_completion(line: dict[str, Any]) -> None:
    if line["k"] == "chunks":
        for chunk in line["chunks"]:
            if "text" in chunk:
                chunk["text"] = chunk["text"].replace("light", "night")


def change_passage(line: dict[str, Any]) -> None:
    if line["k"] == "passage":
        line["passage"]["text"] = line["passage"]["text"].replace("handle", "candle")


def change_config(line: dict[str, Any]) -> None:
    if line["k"] == "turn":
        line["config"]["title"] = "Another site"


@pytest.mark.parametrize("change", [change_completion, change_passage, change_config])
async def test_a_difference_is_found_where_it_first_shows(change: Callable[[dict[str, Any]], None]) -> None:
    made = world(ScriptedEngine([SEARCH, READ, ANSWER]), planner=False)
    await made.ask("How do I turn it on?")
    lines = await lines_of(made)
    for line in lines:
        change(line)
    report = await replay(lines)
    assert report.departure is not None
    assert report.departure.number == report.events + 1
    word = {"change_completion": "night", "change_passage": "candle", "change_config": "Another site"}
    assert word[change.__name__] in report.departure.where


class FullIndex:
    def __init__(self) -> None:
        self.kept: list[tuple[str, int]] = []

    async def add_trace(self, thread: str, turn: str, key: str, size: int, cap: int) -> list[str]:
        self.kept.append((key, size))
        gone = []
        while sum(size for _, size in self.kept) > cap and len(self.kept) > 1:
            gone.append(self.kept.pop(0)[0])
        return gone


async def test_the_oldest_traces_go_first_and_no_message_goes() -> None:
    engine = ScriptedEngine([SEARCH, READ, ANSWER] * 4)
    made = World(
        engine, DOCS, tracing=lambda spool: Tracing(spool, trace_key, index=FullIndex(), cap=40_000), planner=False
    )
    for _ in range(4):
        await made.ask("How do I turn it on?")
    turns = [event.turn for event in made.of("turn_start")]
    kept = [key for key in made.spool._data if key.startswith("traces/")]
    assert 0 < len(kept) < 4
    assert kept == [trace_key("t", turn) for turn in turns[-len(kept) :]]
    assert len(made.store.messages) == 8


@pytest.mark.parametrize("value", [True, False, None])
async def test_a_page_that_was_opened_or_not_is_opened_again_or_not(value: bool | None) -> None:
    made = world(ScriptedEngine([call("navigate_to_page", page="other.html"), "There you are."]), planner=False)
    turn = asyncio.ensure_future(made.ask("Take me there.", interactive=True))
    while not made.of("gate_open"):
        await asyncio.sleep(0)
    gate = made.of("gate_open")[0].gate.id
    if value is None:
        made.agent.expire_gate(turn_id(made), gate)
    else:
        made.agent.resolve_gate(turn_id(made), gate, value)
    await turn
    assert len(made.of("navigate")) == (value is True)
    assert (await replay(await lines_of(made))).departure is None


async def test_the_time_that_was_told_is_told_again() -> None:
    outputs = [call("get_current_time", timezone="Europe/Berlin"), call("get_current_time", timezone="Mars"), "It is."]
    made = world(ScriptedEngine(outputs), planner=False)
    await made.ask("What time is it?")
    assert "Europe/Berlin" in made.of("tool_end")[0].shown
    assert made.of("tool_end")[1].is_error
    assert (await replay(await lines_of(made))).departure is None


async def test_what_the_engine_counted_is_counted_again() -> None:
    from tests.context.test_window_fit import CountingEngine

    engine = CountingEngine([call("say_i_dont_know", reason="x")], window=1_300, counted=9_000)
    made = world(engine, planner=False, max_output_tokens=256)
    assert (await made.ask("word " * 600)).status == "failed"
    assert (await replay(await lines_of(made))).departure is None
