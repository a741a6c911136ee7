"""What a reader does while a turn runs: decides what it asks, adds something, and finds nothing lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.errors import AgentError, EngineError
from py_agent.model.gate import GateRequest
from py_agent.model.prompt import Chunk, GenerateOptions, Prompt
from py_agent.model.tool import Tool, ToolArgs, ToolResult
from py_agent.runner.contexts import TurnContext
from tests.harness import World, call, passage

DOCS = [passage("p1", "The light goes on with lantern on. It goes off with lantern off.")]
SEARCH = call("search_docs", query="light lantern")


def answer(text: str) -> str:
    source = {"passage": "p1", "quote": "The light goes on with lantern on."}
    return call("provide_answer", answer=text, sources=[source])


class WaitingEngine(ScriptedEngine):
    """Waits in front of each output until the test lets it go on."""

    def __init__(self, outputs: list[Any]) -> None:
        super().__init__(outputs)
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
        self.asked.set()
        await self.go.wait()
        self.go.clear()
        self.asked.clear()
        async for chunk in super().generate(prompt, options):
            yield chunk

    async def next(self) -> None:
        await self.asked.wait()
        self.go.set()
        await asyncio.sleep(0)


def turn_id(world: World) -> str:
    return str(world.of("turn_start")[0].turn)


async def test_what_is_added_reaches_the_next_request_and_the_thread() -> None:
    engine = WaitingEngine([SEARCH, answer("With lantern on."), "unused"])
    world = World(engine, DOCS, planner=False)
    turn = asyncio.ensure_future(world.ask("How do I turn on the light?"))
    await engine.asked.wait()
    await world.agent.add(turn_id(world), "I mean in the dark.")
    await engine.next()
    await engine.next()
    end = await turn
    assert end.status == "answered"
    assert "While you worked, the reader added" in world.prompts[1]
    assert "I mean in the dark." in world.prompts[1]
    kept = [(message.role, message.content, message.state) for message in world.store.messages]
    assert kept[:2] == [
        ("user", "How do I turn on the light?", "done"),
        ("user", "I mean in the dark.", "done"),
    ]
    assert world.of("addition")[0].text == "I mean in the dark."


async def test_what_is_added_while_the_first_turn_warms_up_is_in_its_first_request() -> None:
    engine = ScriptedEngine([SEARCH, answer("On.")])
    world = World(engine, DOCS, planner=False)
    warming, go = asyncio.Event(), asyncio.Event()

    async def prepare() -> None:
        warming.set()
        await go.wait()

    world.agent._prepare = prepare
    turn = asyncio.ensure_future(world.ask("How do I turn on the light?"))
    await warming.wait()
    await world.agent.add(turn_id(world), "In the dark.")
    go.set()
    assert (await turn).status == "answered"
    assert "In the dark." in world.prompts[0]
    assert [message.state for message in world.store.messages[:2]] == ["done", "done"]


async def test_an_answer_that_was_written_before_it_was_told_does_not_count() -> None:
    engine = WaitingEngine([SEARCH, answer("With lantern on."), answer("With lantern on, also in the dark.")])
    world = World(engine, DOCS, planner=False)
    turn = asyncio.ensure_future(world.ask("How do I turn on the light?"))
    await engine.next()
    await engine.asked.wait()
    await world.agent.add(turn_id(world), "Also in the dark?")
    for _ in range(2):
        await engine.next()
    end = await turn
    assert end.answer == "With lantern on, also in the dark."
    assert [event.gate for event in world.of("gate")] == ["additions"]


async def test_the_next_turn_sees_question_and_addition_as_one() -> None:
    engine = WaitingEngine([SEARCH, answer("On."), SEARCH, answer("Off.")])
    world = World(engine, DOCS, planner=False)
    turn = asyncio.ensure_future(world.ask("First?"))
    await engine.asked.wait()
    await world.agent.add(turn_id(world), "Second!")
    await engine.next()
    await engine.next()
    await turn
    turn = asyncio.ensure_future(world.ask("And off?"))
    await engine.next()
    await engine.next()
    await turn
    assert "<|turn>user\nFirst?\n\nSecond!<turn|>\n<|turn>model\nOn.<turn|>" in world.prompts[2]


async def test_a_stop_keeps_what_was_added_as_interrupted() -> None:
    engine = WaitingEngine([SEARCH])
    world = World(engine, DOCS, planner=False)
    turn = asyncio.ensure_future(world.ask("How?"))
    await engine.asked.wait()
    await world.agent.add(turn_id(world), "And why?")
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert [(message.content, message.state) for message in world.store.messages] == [
        ("How?", "interrupted"),
        ("And why?", "interrupted"),
    ]


async def test_what_comes_too_late_is_refused_by_name() -> None:
    world = World(ScriptedEngine([SEARCH, answer("On.")]), DOCS, planner=False)
    await world.ask("How?")
    with pytest.raises(AgentError) as caught:
        await world.agent.add(turn_id(world), "And why?")
    assert caught.value.code == "turn_over"
    with pytest.raises(AgentError) as caught:
        world.agent.resolve_gate(turn_id(world), "g1", True)
    assert caught.value.code == "turn_over"


class NoArgs(ToolArgs):
    pass


def asking_tool(turn: TurnContext) -> list[Tool]:
    async def handler(_args: NoArgs, context: Any) -> ToolResult:
        request = GateRequest(id="g1", kind="approve", tool="ring", text="Ring the bell?", timeout_s=5)
        decided = await context.turn.wait_for(request)
        return ToolResult(text=f"The reader: {decided.result} {decided.value}.")

    return [Tool(name="ring", description="Rings the bell.", args=NoArgs, handler=handler)]


@pytest.mark.parametrize(
    ("interactive", "value", "text"),
    [(True, True, "resolved True"), (True, False, "resolved False"), (False, None, "aborted None")],
)
async def test_a_tool_that_asks_gets_the_readers_decision(interactive: bool, value: Any, text: str) -> None:
    world = World(ScriptedEngine([call("ring"), "Done, the bell is quiet."]), tools=asking_tool, planner=False)
    turn = asyncio.ensure_future(world.ask("Ring it.", interactive=interactive))
    if interactive:
        while not world.of("gate_open"):
            await asyncio.sleep(0)
        world.agent.resolve_gate(turn_id(world), "g1", value)
    await turn
    assert text in world.of("tool_end")[0].shown


async def test_waiting_for_the_reader_costs_the_turn_no_time() -> None:
    world = World(
        ScriptedEngine([call("ring"), "Done, the bell is quiet."]),
        tools=asking_tool,
        planner=False,
        max_turn_seconds=0.25,
    )
    turn = asyncio.ensure_future(world.ask("Ring it.", interactive=True))
    while not world.of("gate_open"):
        await asyncio.sleep(0)
    await asyncio.sleep(0.4)
    world.agent.resolve_gate(turn_id(world), "g1", True)
    assert (await turn).status == "answered"


async def test_a_stop_while_the_turn_asks_closes_the_gate_and_leaves_a_question_to_ask_again() -> None:
    world = World(ScriptedEngine([call("ring")]), tools=asking_tool, planner=False)
    turn = asyncio.ensure_future(world.ask("Ring it.", interactive=True))
    while not world.of("gate_open"):
        await asyncio.sleep(0)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert world.of("gate_closed")[0].result == "aborted"
    assert world.store.messages[0].state == "interrupted"


async def test_tokens_that_are_used_up_end_the_turn_with_what_was_found() -> None:
    world = World(ScriptedEngine([SEARCH], repeat_last=True), DOCS, planner=False, max_turn_tokens=300)
    end = await world.ask("How do I turn on the light?")
    assert end.status == "abstained"
    assert [source.passage for source in end.related] == ["p1"]
    assert end.dispatches == 1
    assert world.store.messages[0].state == "done"


async def test_time_that_is_used_up_ends_the_turn_in_the_middle_of_a_completion() -> None:
    slow = ScriptedEngine([SEARCH, "x" * 4_000], delay=0.01, chunk_size=20)
    world = World(slow, DOCS, planner=False, max_turn_seconds=0.3)
    end = await asyncio.wait_for(world.ask("How do I turn on the light?"), 2)
    assert end.status == "abstained"
    assert world.of("request_end")[-1].code == "limit_reached"
    follow_up = World(slow, DOCS, planner=False)
    assert (await follow_up.ask("Again?")).error == {
        "code": "empty",
        "message": "The script has no more outputs.",
        "hint": "Give one for each dispatch.",
    }, "the engine is free for the next turn"


async def test_an_engine_error_in_a_turn_with_an_addition_loses_neither() -> None:
    engine = WaitingEngine([EngineError("lost", code="lost")])
    world = World(engine, DOCS, planner=False)
    turn = asyncio.ensure_future(world.ask("How?"))
    await engine.asked.wait()
    await world.agent.add(turn_id(world), "And why?")
    await engine.next()
    assert (await turn).status == "failed"
    assert [message.state for message in world.store.messages] == ["interrupted", "interrupted"]
