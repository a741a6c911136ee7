from __future__ import annotations

import pytest

from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.errors import EngineError
from tests.harness import PLAN, World, call, passage

PASSAGES = [passage("p1", "The timeout of a webhook is 12 seconds.", path=("Webhooks",))]
WORK = [
    call("search_docs", query="webhook timeout"),
    call("provide_answer", answer="12 s.", sources=[{"passage": "p1", "quote": "webhook is 12 seconds"}]),
]


async def test_the_planner_sees_one_tool_and_the_worker_sees_its_plan() -> None:
    world = World(ScriptedEngine(["<|channel>thought\nHm.<channel|>" + PLAN, *WORK]), PASSAGES)
    assert (await world.ask("How long?")).status == "answered"
    planner, *worker = world.engine.prompts
    assert [tool.name for tool in planner.tools] == ["make_plan"]
    assert planner.thinking
    assert not worker[0].thinking
    assert "make_plan" not in [tool.name for tool in worker[0].tools]
    assert "doc_cited" in worker[0].messages[-1].content
    assert [thought.kind for thought in world.store.turns[0].thoughts] == ["plan"]


async def test_each_try_has_its_own_words_and_the_third_failure_lets_the_turn_go_on() -> None:
    bad = call("make_plan", answer_kind="poem")
    world = World(ScriptedEngine(["no plan", bad, call("search_docs", query="x"), *WORK]), PASSAGES)
    assert (await world.ask("How long?")).status == "answered"
    tries = [prompt.messages[-1].content.split("[/reader")[1][20:] for prompt in world.engine.prompts[:3]]
    assert len(set(tries)) == 3
    assert "My plan" not in world.prompts[3]
    assert world.search.queries == ["webhook timeout"]


async def test_a_failed_try_does_not_end_the_turn_but_a_dead_engine_does() -> None:
    world = World(ScriptedEngine([EngineError("x", code="empty"), PLAN, *WORK]), PASSAGES)
    assert (await world.ask("How long?")).status == "answered"
    for code in ("out_of_memory", "lost"):
        world = World(ScriptedEngine([EngineError("gone", hint="reload", code=code), PLAN, *WORK]), PASSAGES)
        end = await world.ask("How long?")
        assert end.status == "failed"
        assert end.error == {"code": code, "message": "gone", "hint": "reload"}


@pytest.mark.parametrize("planner", [True, False])
async def test_the_planner_can_be_switched_off(planner: bool) -> None:
    world = World(ScriptedEngine([PLAN, *WORK] if planner else WORK), PASSAGES, planner=planner)
    end = await world.ask("How long?")
    assert (end.status, end.dispatches) == ("answered", 3 if planner else 2)
