"""Whole turns with models that write their calls in other forms, under other names, or not to their end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from py_agent.engines.scripted import ScriptedEngine
from tests.harness import World, passage

CASE = json.loads((Path(__file__).parents[1] / "fixtures" / "cases" / "T11.json").read_text(encoding="utf-8"))
PASSAGES = [passage("p1", "Use --port N to choose the port of the server.", page="cli/serve.html")]
ANSWER = {"answer": "Use `--port N`.", "sources": [{"passage": "p1", "quote": "Use --port N to choose the port"}]}
QUERY = {"query": "port of the server"}


def as_json(name: str, given: dict[str, Any]) -> str:
    return json.dumps({"name": name, "arguments": given})


def as_fence(name: str, given: dict[str, Any]) -> str:
    return f"Let me see.\n\n```json\n{as_json(name, given)}\n```\n"


def as_hermes(name: str, given: dict[str, Any]) -> str:
    return f"<tool_call>\n{as_json(name, given)}\n</tool_call>"


def as_python(name: str, given: dict[str, Any]) -> str:
    return f"```tool_code\nprint({name}({', '.join(f'{key}={value!r}' for key, value in given.items())}))\n```"


def as_bare(name: str, given: dict[str, Any]) -> str:
    return f"call:{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


async def turn(script: list[str], **options: Any) -> tuple[World, Any]:
    world = World(ScriptedEngine(script, **options), PASSAGES, planner=False)
    return world, await world.ask(CASE["turn"]["user"])


def correction(world: World, number: int) -> str:
    return world.engine.prompts[number].messages[-1].content


@pytest.mark.parametrize("form", [as_json, as_fence, as_hermes, as_python, as_bare])
async def test_a_turn_goes_through_in_every_form_and_its_answer_streams(form: Any) -> None:
    world, end = await turn([form("search_docs", QUERY), form("provide_answer", ANSWER)])
    assert (end.status, end.answer, end.dispatches) == ("answered", ANSWER["answer"], 2)
    assert world.search.queries == [QUERY["query"]]
    assert len(end.sources) == 1
    deltas = world.of("answer_delta")
    assert "".join(event.text for event in deltas) == end.answer
    assert len(deltas) > 1


async def test_names_that_do_not_exist_are_not_replaced_and_the_model_hears_the_real_ones() -> None:
    script = [*CASE["turn"]["model"][:3], as_hermes("provide_answer", ANSWER)]
    world, end = await turn(script)
    assert (end.status, end.dispatches) == ("answered", CASE["turn"]["expect"]["dispatches"])
    assert len(world.search.queries) == 1
    for number, wrong in ((1, "brave_search"), (2, "'search_doc'")):
        told = correction(world, number)
        assert wrong in told
        assert "search_docs" in told
        assert "provide_answer" in told
    ran = [call.tool for call in world.store.turns[0].tool_calls if not call.is_error]
    assert ran == ["search_docs"]


async def test_code_in_an_argument_is_not_run_and_one_correction_names_the_tool() -> None:
    code = '```tool_code\nsearch_docs(query=open("/etc/hostname").read())\n```'
    world, end = await turn([code, as_json("search_docs", QUERY), as_json("provide_answer", ANSWER)])
    assert end.status == "answered"
    assert world.search.queries == [QUERY["query"]]
    assert "search_docs" in correction(world, 1)
    assert "did not run" in correction(world, 1)
    assert [event.gate for event in world.of("gate")] == ["terminator"]


@pytest.mark.parametrize("form", [as_json, as_fence, as_hermes, as_python, as_bare])
async def test_a_call_in_any_form_that_the_limit_cut_does_not_run(form: Any) -> None:
    cut = form("provide_answer", ANSWER).partition("--port")[0]
    script = [form("search_docs", QUERY), cut, form("provide_answer", ANSWER)]
    world, end = await turn(script, reasons=["stop", "length"])
    assert (end.status, end.answer, end.dispatches) == ("answered", ANSWER["answer"], 3)
    assert "did not run" in correction(world, 2)
    # The draft of the cut answer was shown and taken back.
    assert [event.type for event in world.events if event.type in ("answer_delta", "answer_reset")].count(
        "answer_reset"
    ) == 1


async def test_halves_of_a_character_are_joined_before_they_are_kept() -> None:
    rocket = json.dumps({"name": "provide_answer", "arguments": {**ANSWER, "answer": "Up 🚀."}}, ensure_ascii=False)
    halved = f"<tool_call>{rocket}</tool_call>".replace("🚀", "\ud83d\ude80")
    world, end = await turn([as_hermes("search_docs", QUERY), halved], chunk_size=1)
    assert end.answer == "Up 🚀."
    assert "".join(event.text for event in world.of("answer_delta")) == end.answer
    assert "🚀" in world.of("request_end")[-1].completion
