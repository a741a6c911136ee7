"""A model that asks for the same thing again and again is stopped, and the reader gets what it has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.tool import Tool, ToolArgs, ToolResult
from py_agent.runner.contexts import TurnContext
from tests.harness import World, call, passage

CASE = json.loads((Path(__file__).parents[1] / "fixtures" / "cases" / "T13.json").read_text(encoding="utf-8"))
TURNS = {turn["name"]: turn for turn in CASE["turns"]}


class ClockArgs(ToolArgs):
    tz: str = "UTC"


class PathArgs(ToolArgs):
    path: str


class Fakes:
    """The tools of a case; each gives the case's result and counts its runs."""

    def __init__(self) -> None:
        self.results: dict[str, str] = {}
        self.runs: list[str] = []

    def tools(self, _turn: TurnContext) -> list[Tool]:
        return [self._tool("get_current_time", ClockArgs)]

    def _tool(self, name: str, args: type[ToolArgs]) -> Tool:
        async def handler(_args: ToolArgs, _context: Any) -> ToolResult:
            self.runs.append(name)
            return ToolResult(text=self.results[name])

        return Tool(name=name, description=name, args=args, handler=handler)


async def test_the_same_call_for_ever_ends_with_the_value_that_it_brought() -> None:
    stuck, again = TURNS["stuck"], TURNS["asked_again_next_turn"]
    fakes = Fakes()
    fakes.results = stuck["tool_results"]
    world = World(ScriptedEngine([*stuck["model"] * 4, *again["model"]]), tools=fakes.tools, planner=False)
    end = await world.ask(stuck["user"])
    assert fakes.runs.count("get_current_time") <= stuck["expect"]["executions_max"]["get_current_time"]
    assert end.dispatches <= stuck["expect"]["dispatches_max"]
    assert end.status == "uncited"
    for text in stuck["expect"]["answer_contains"]:
        assert text in end.answer

    # The guard does not carry over: in the next turn the same call runs.
    fakes.runs.clear()
    fakes.results = again["tool_results"]
    assert end.dispatches == 4
    end = await world.ask(again["user"])
    assert fakes.runs == ["get_current_time"]
    assert end.answer == "It is Wednesday."


async def test_what_the_model_has_is_put_in_front_of_it_and_only_an_answer_can_be_called() -> None:
    fakes = Fakes()
    fakes.results = {"get_current_time": "UTC: Wednesday"}
    clock = call("get_current_time")
    world = World(
        ScriptedEngine([clock, clock, clock, call("say_i_dont_know", reason="The docs do not tell the time.")]),
        tools=fakes.tools,
        planner=False,
    )
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
    fakes = Fakes()
    fakes.results = {"get_current_time": "Some `code` and a ``` fence"}
    clock = call("get_current_time")
    outputs = [clock, clock, clock, *[last or call("list_everything")] * 4]
    world = World(ScriptedEngine(outputs), [passage("p1", "x")], tools=fakes.tools, planner=False)
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
