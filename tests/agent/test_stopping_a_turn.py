"""A stop may come at any await; the question is then interrupted and nothing is half written."""

from __future__ import annotations

import asyncio

import pytest

from py_agent.engines.extractive import ExtractiveEngine
from py_agent.engines.scripted import ScriptedEngine
from tests.harness import PLAN, World, call, passage

PASSAGES = [passage(f"p{n}", f"A webhook has part {n}. " * 30 + f"The timeout of part {n} is {n} s.") for n in range(4)]


async def stopped_after(steps: int, world: World) -> bool:
    """Runs a turn and stops it after ``steps`` turns of the event loop; whether it was still running then."""
    task = asyncio.ensure_future(world.ask("How long is the webhook timeout?"))
    for _ in range(steps):
        await asyncio.sleep(0)
        if task.done():
            return False
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return True


async def test_a_stop_at_any_await_leaves_a_consistent_thread() -> None:
    steps, running = 0, True
    while running:
        world = World(ExtractiveEngine(), PASSAGES)
        running = await stopped_after(steps, world)
        steps += 1
        states = [message.state for message in world.store.messages]
        if steps == 1 and running:
            # The task had not begun: there is no turn to speak of.
            assert states == []
            continue
        end = world.events[-1]
        assert end.type == "turn_end"
        assert sum(event.type == "turn_end" for event in world.events) == 1
        if end.status == "interrupted":
            assert states == ["interrupted"]
            assert end.message == world.store.messages[0].id
            assert await world.spool.delete("") == 0
        else:
            assert states == ["done", "done"]
            assert len(world.store.turns) == 1
    assert steps > 20


async def test_the_engine_is_free_for_the_next_turn_after_a_stop() -> None:
    search = call("search_docs", query="webhook timeout")
    engine = ScriptedEngine([PLAN, search * 40, PLAN, call("say_i_dont_know", reason="-")], delay=0.001)
    world = World(engine, PASSAGES)
    task = asyncio.ensure_future(world.ask("How long is the webhook timeout?"))
    while len(engine.prompts) < 2:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await world.ask("Again?")).status == "abstained"
    assert [message.state for message in world.store.messages] == ["interrupted", "done", "done"]
    assert "How long" not in world.prompts[-1]
