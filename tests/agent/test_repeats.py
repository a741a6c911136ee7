"""A model that asks for the same thing again and again is stopped, and the reader gets what it has."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from py_agent.engines.scripted import ScriptedEngine
from tests.harness import World, call, passage

CASE = json.loads((Path(__file__).parents[1] / "fixtures" / "cases" / "T13.json").read_text(encoding="utf-8"))
TURNS = {turn["name"]: turn for turn in CASE["turns"]}


def at(minute: int) -> Callable[[], dt.datetime]:
    return lambda: dt.datetime(2026, 3, 4, 9, minute, tzinfo=dt.UTC)


def runs(world: World) -> int:
    return len(world.of("tool_end"))


async def test_the_same_call_for_ever_ends_with_the_value_that_it_brought() -> None:
    stuck, again = TURNS["stuck"], TURNS["asked_again_next_turn"]
    outputs = [*stuck["model"] * 4, *again["model"]]
    world = World(ScriptedEngine(outputs), clock=at(30), planner=False)
    end = await world.ask(stuck["user"])
    assert stuck["tool_results"]["get_current_time"] in world.of("tool_end")[0].shown
    assert 0 < runs(world) <= stuck["expect"]["executions_max"]["get_current_time"]
    assert end.dispatches == 4 <= stuck["expect"]["dispatches_max"]
    assert end.status == "uncited"
    for text in stuck["expect"]["answer_contains"]:
        assert text in end.answer

    # The guard does not carry over: in the next turn the same call runs.
    world.events.clear()
    end = await world.ask(again["user"])
    assert runs(world) == again["expect"]["executions"]["get_current_time"]
    assert end.answer == "It is Wednesday."


async def test_what_the_model_has_is_put_in_front_of_it_and_only_an_answer_can_be_called() -> None:
    clock = call("get_current_time")
    outputs = [clock, clock, clock, call("say_i_dont_know", reason="The docs do not tell the time.")]
    world = World(ScriptedEngine(outputs), clock=at(30), planner=False)
    end = await world.ask("What day is it?")
    assert end.status == "abstained"
    assert "Now answer the question with provide_answer or say_i_dont_know" in world.prompts[3]
    assert "UTC: Wednesday" in world.prompts[3].rsplit("You have asked for the same thing", 1)[1]
    iterations = [event for event in world.events if event.type == "iteration_end"]
    assert iterations[3].allowed == ("provide_answer", "say_i_dont_know")
    assert "get_current_time" in iterations[2].allowed


async def test_a_result_that_was_never_opened_is_opened_for_the_model() -> None:
    long = "The lantern is a lamp for the dark months. " * 60
    search = call("search_docs", query="lantern handle")
    answer = call(
        "provide_answer", answer="By its handle.", sources=[{"passage": "p1", "quote": "It is carried by its handle."}]
    )
    world = World(
        ScriptedEngine([search, search, search, answer]),
        [passage("p1", f"It is carried by its handle. {long}")],
        planner=False,
        inline_result_tokens=20,
    )
    end = await world.ask("How is the lantern carried?")
    assert end.status == "answered"
    assert end.sources[0].passage == "p1"


@pytest.mark.parametrize("last", ["Some prose that cites nothing, at some length.", ""])
async def test_a_model_that_still_does_not_answer_is_not_asked_for_ever(last: str) -> None:
    clock = call("get_current_time")
    outputs = [clock, clock, clock, *[last or call("list_everything")] * 4]
    world = World(ScriptedEngine(outputs), [passage("p1", "x")], clock=at(30), planner=False)
    end = await world.ask("What day is it?")
    assert end.dispatches <= 6
    assert end.answer


async def test_a_healthy_turn_of_five_steps_is_not_touched() -> None:
    turn = TURNS["healthy"]
    pages = [
        passage("p1", "Use --port to set the port of the server.", page="cli/serve.html", title="port"),
        passage("p2", "Use --host to set the host of the server.", page="cli/host.html", title="host"),
    ]
    outputs = [
        call("search_docs", query="port"),
        call("read_page", passage="p1"),
        call("search_docs", query="host"),
        call("read_page", passage="p2"),
        call(
            "provide_answer",
            answer="--port and --host",
            sources=[{"passage": "p1", "quote": "Use --port to set the port of the server."}],
        ),
    ]
    world = World(ScriptedEngine(outputs), pages, planner=False)
    end = await world.ask(turn["user"])
    assert end.status == "answered"
    assert end.dispatches == turn["expect"]["dispatches"]
    ran = [event.tool for event in world.of("tool_end")]
    assert {name: ran.count(name) for name in ("search_docs", "read_page")} == {"search_docs": 2, "read_page": 2}
