"""Artifacts in whole turns: a site's own tool with a large result, the readers that it opens, and the trace."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from py_agent.artifacts.readers import MEASURES, readers
from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.tool import ResultKind, Tool, ToolArgs, ToolError, ToolResult
from py_agent.replay import replay
from py_agent.storage.keys import trace_key
from py_agent.trace.lines import decode
from py_agent.trace.tracing import Tracing
from tests.artifacts.shelves import KINDS, shelf_of
from tests.harness import World, call

ROWS = [{"name": f"lantern {number}", "price": number} for number in range(400)]


def orders(result: Any, kind: ResultKind = "json") -> Any:
    """A site's tool that lists its orders."""

    async def handler(_args: ToolArgs, _context: Any) -> ToolResult:
        return result() if callable(result) else result

    tool = Tool(name="orders", description="Lists orders.", args=ToolArgs, handler=handler, produces=(kind,))
    return lambda _turn: [tool]


def world(result: Any, *outputs: str, kind: ResultKind = "json", **settings: Any) -> World:
    return World(ScriptedEngine([*outputs, "Done."]), tools=orders(result, kind), planner=False, **settings)


def results(made: World) -> list[str]:
    return [event.shown for event in made.of("tool_end")]


async def lines_of(made: World) -> list[dict[str, Any]]:
    key = next(key for key in made.spool._data if key.startswith("traces/"))
    return decode(await made.spool.read(key))


GET = call("artifact_json_get", call_id="c1", path="$[7].name")


async def test_a_large_result_is_kept_and_its_readers_open() -> None:
    get = call("artifact_json_get", call_id="c2", path="$[7].name")
    made = world(ToolResult(text=json.dumps(ROWS), kind="json", summary="400 orders"), get, call("orders"), get)
    await made.ask("What is the seventh order?")
    declared = [tool.name for tool in made.engine.prompts[0].tools]
    assert declared.index("artifact_cat") < declared.index("artifact_json_get")
    assert not MEASURES & set(declared)
    assert not any(name.startswith("artifact_md") for name in declared)
    assert "There is no tool 'artifact_json_get' here." in made.prompts[1]
    handle, got = results(made)
    assert handle.startswith("c2: 400 orders, 1 lines, 15k bytes, not read.\nRead it with artifact_json_get or")
    assert "lantern 7" in got


async def test_the_readers_are_the_same_in_every_request_of_a_turn() -> None:
    made = world(ToolResult(text=json.dumps(ROWS), kind="json"), call("orders"), GET)
    await made.ask("What is the seventh order?")
    assert len({tuple(tool.name for tool in prompt.tools) for prompt in made.engine.prompts}) == 1
    assert "lantern 7" in results(made)[-1]
    for earlier, later in zip(made.prompts, made.prompts[1:], strict=False):
        assert later.startswith(earlier[: len(earlier) - 40])


async def test_without_a_tool_that_makes_json_no_turn_pays_for_its_readers() -> None:
    made = world(ToolResult(text="plain"), call("orders"), kind="text")
    await made.ask("?")
    assert not any("json" in tool.name or "md_" in tool.name for tool in made.engine.prompts[0].tools)


async def test_a_streamed_result_is_kept_and_its_tool_may_fail_in_the_middle() -> None:
    async def rows() -> AsyncIterator[str]:
        for number in range(50_000):
            yield f"order {number}\n"
            if number == 40_000 and fails:
                raise ToolError("The shop is closed.")

    for fails in (False, True):
        grep = call("artifact_grep", call_id="c1", pattern="order 39999")
        made = world(lambda: ToolResult(stream=rows()), call("orders"), grep, kind="text")
        await made.ask("Which orders are there?")
        if fails:
            assert results(made)[0] == "Error: The shop is closed."
            assert "40000: order 39999" not in "".join(results(made))
        else:
            assert "40000: order 39999" in results(made)[1]


async def test_a_traced_turn_with_a_json_result_replays() -> None:
    made = world(
        ToolResult(text=json.dumps(ROWS), kind="json"),
        call("orders"),
        GET,
        tracing=lambda spool: Tracing(spool, trace_key),
    )
    await made.ask("What is the seventh order?")
    assert "lantern 7" in results(made)[-1]
    assert (await replay(await lines_of(made))).departure is None


async def test_a_streamed_result_is_not_in_the_trace_and_its_replay_departs_there() -> None:
    async def rows() -> AsyncIterator[str]:
        for number in range(5_000):
            yield f"order {number}\n"

    made = world(
        lambda: ToolResult(stream=rows()), call("orders"), kind="text", tracing=lambda spool: Tracing(spool, trace_key)
    )
    await made.ask("Which orders are there?")
    departure = (await replay(await lines_of(made))).departure
    assert departure is not None
    assert (departure.expected["type"], departure.expected["tool"]) == ("tool_end", "orders")


def test_the_names_of_the_measures_are_those_of_readers() -> None:
    assert {tool.name for tool in readers(shelf_of(), KINDS)} >= MEASURES
