"""An integrator's own steps in the pipelines of turn and dispatch, and what goes wrong when one is wired wrong."""

from __future__ import annotations

import pytest

from py_agent.agent import Pipelines
from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.errors import EngineError
from py_agent.runner.contexts import DispatchContext, Outcome, TurnContext
from py_agent.runner.pipeline import PipelineError
from py_agent.runner.types import Next
from tests.harness import World, call, passage

DOCS = [passage("p1", "The light goes on with lantern on.")]
OUTPUTS = [
    call("search_docs", query="light lantern"),
    call(
        "provide_answer",
        answer="On.",
        sources=[{"passage": "p1", "quote": "The light goes on with lantern on."}],
    ),
]


async def test_the_steps_run_around_the_turn_in_their_order_in_every_turn() -> None:
    log: list[str] = []

    def turn_step(name: str) -> object:
        async def step(context: TurnContext, next_: Next) -> None:
            log.append(name)
            await next_()

        return step

    def dispatch_step(name: str) -> object:
        async def step(context: DispatchContext, next_: Next) -> None:
            log.append(f"{name} {context.iteration}")
            await next_()

        return step

    pipelines = Pipelines((turn_step("in"),), (dispatch_step("din"),), (dispatch_step("dout"),), (turn_step("out"),))
    world = World(ScriptedEngine(OUTPUTS * 2), DOCS, pipelines=pipelines, planner=False)
    for _ in range(2):
        assert (await world.ask("How?")).status == "answered"
    assert log == ["in", "din 0", "dout 0", "din 1", "dout 1", "out"] * 2


async def test_a_step_may_refuse_a_turn() -> None:
    async def refuse(context: TurnContext, next_: Next) -> None:
        context.outcome = Outcome("abstained", "Not on Sundays.")

    world = World(ScriptedEngine([]), pipelines=Pipelines(turn_input=(refuse,)))
    end = await world.ask("How?")
    assert (end.status, end.answer) == ("abstained", "Not on Sundays.")
    assert world.store.messages[0].state == "done"


async def test_a_step_that_ends_nothing_and_goes_nowhere_is_an_error_of_the_wiring() -> None:
    async def forgets(context: DispatchContext, next_: Next) -> None:
        pass

    world = World(ScriptedEngine(OUTPUTS), DOCS, pipelines=Pipelines(dispatch_input=(forgets,)), planner=False)
    with pytest.raises(PipelineError, match="neither called next"):
        await world.ask("How?")
    assert world.store.messages[0].state == "interrupted"


async def test_what_comes_after_the_turn_does_not_run_after_a_failure() -> None:
    async def never(context: TurnContext, next_: Next) -> None:
        raise AssertionError

    engine = ScriptedEngine([EngineError("gone", code="lost")])
    world = World(engine, DOCS, pipelines=Pipelines(turn_output=(never,)), planner=False)
    assert (await world.ask("How?")).status == "failed"
