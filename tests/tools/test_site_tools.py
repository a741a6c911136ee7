"""A site's own tools: declared and run like ours, held to the reader's word, and harmless when they are broken."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult
from py_agent.planner.tool import NAME as MAKE_PLAN
from py_agent.runner.contexts import TurnContext
from py_agent.tools.site_tools import ENTRY_POINT, MAX_TOOLS, SiteTools, SiteToolsError, from_entry_points
from py_agent.tools.toolset import RESERVED, is_reserved, toolset
from tests.harness import World, call, passage

DOCS = [passage("p1", "The light goes on with lantern on.")]
END = call("say_i_dont_know", reason="Enough.")


class Args(ToolArgs):
    part: str = ""


def stock(result: Any = None, **options: Any) -> Tool:
    async def handler(args: Args, _context: Any) -> Any:
        if isinstance(result, Exception):
            raise result
        return ToolResult(text=f"3 {args.part} in stock.") if result is None else result

    return Tool(**{"name": "stock", "description": "Counts.", "args": Args, "handler": handler, **options})


class Reported:
    def __init__(self, *made: Any) -> None:
        self.lines: list[str] = []
        self.tools = SiteTools(is_reserved, self.lines.append)
        self.tools.use(lambda _turn: made)

    async def run(self, *outputs: str) -> World:
        world = World(ScriptedEngine([*outputs, END]), DOCS, planner=False, tools=self.tools)
        await world.ask("How many wicks are left?")
        return world


def shown(world: World) -> str:
    return str([message for message in world.engine.prompts[-1].messages if message.role == "tool"][-1].content)


async def test_a_pure_tool_runs_without_asking_the_reader() -> None:
    reported = Reported(stock(pure=True))
    world = await reported.run(call("stock", part="wicks"))
    assert "stock" in [spec.name for spec in world.engine.prompts[0].tools]
    assert "3 wicks in stock." in shown(world)
    assert reported.lines == []


async def test_a_tool_that_says_nothing_of_effects_needs_the_readers_word() -> None:
    world = await Reported(stock()).run(call("stock", part="wicks"))
    assert "3 wicks" not in shown(world)
    world = await Reported(stock(effect=False)).run(call("stock", part="wicks"))
    assert "3 wicks in stock." in shown(world)


@pytest.mark.parametrize("made", [stock(ValueError("no till")), stock("a text")], ids=["raises", "gives a text"])
async def test_a_tool_that_fails_is_told_to_the_model_and_to_the_owner(made: Tool) -> None:
    reported = Reported(made.model_copy(update={"pure": True}))
    world = await reported.run(call("stock"), call("stock", part="oil"))
    assert "The site's tool stock" in shown(world)
    assert world.of("turn_end")[0].status == "abstained"
    assert len(reported.lines) == 1, "the same failure is told once"


async def test_what_a_tool_refuses_is_for_the_model_only() -> None:
    reported = Reported(stock(ToolError("No such part."), pure=True))
    assert "No such part." in shown(await reported.run(call("stock")))
    assert reported.lines == []


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ([stock(name="search_docs")], "cannot be called 'search_docs'"),
        ([stock(name="artifact_anything")], "cannot be called 'artifact_anything'"),
        ([stock(), stock()], "cannot be called 'stock'"),
        ([stock(name="Stock!")], "cannot be called 'Stock!'"),
        ([stock(name="")], "cannot be called ''"),
        ([stock, stock()], "function, which is no Tool"),
        ([stock(terminal=True)], "ends the turn or reads artifacts"),
        ([stock(reader=True)], "ends the turn or reads artifacts"),
        ([stock(name=f"t{number}") for number in range(MAX_TOOLS + 1)], f"{MAX_TOOLS + 1} tools of its own"),
    ],
)
async def test_wrong_tools_are_told_and_the_turn_goes_on_without_them(made: list[Any], text: str) -> None:
    reported = Reported(*made)
    world = await reported.run()
    assert world.of("turn_end")[0].status == "abstained"
    declared = [spec.name for spec in world.engine.prompts[0].tools]
    assert "stock" not in declared
    assert declared.count("search_docs") == 1
    assert text in reported.lines[0]


@pytest.mark.parametrize("make", [lambda _turn: 1 / 0, lambda _turn: None, lambda: []])
async def test_a_function_that_fails_is_told_and_the_turn_goes_on(make: Callable[..., Any]) -> None:
    reported = Reported()
    reported.tools.use(make)
    assert (await reported.run()).of("turn_end")[0].status == "abstained"
    assert "could not be made" in reported.lines[0]


async def test_our_own_names_are_all_reserved() -> None:
    turns: list[TurnContext] = []

    def tools(turn: TurnContext) -> list[Tool]:
        turns.append(turn)
        return []

    world = World(ScriptedEngine([END]), DOCS, planner=False, tools=tools)
    await world.ask("What can you do?", interactive=True)
    memories: Any = world.store
    registry = toolset(turns[0], memories=memories)
    names = {tool.name for tool in (*registry.visible(), *registry.in_catalogue())} | {MAKE_PLAN}
    assert len(names) > len(RESERVED), "the readers of artifacts come on top"
    assert RESERVED - names == set()
    assert [name for name in names if not is_reserved(name)] == []


def test_something_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(SiteToolsError, match="names list, which cannot be called"):
        SiteTools(is_reserved, print).use([stock()])


def installed(folder: Path, text: str) -> None:
    info = folder / "till-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: till\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names 0 entry points"),
        (f"[{ENTRY_POINT}]\na = till_a:tools\nb = till_b:tools\n", "names 2 entry points"),
        (f"[{ENTRY_POINT}]\na = till_that_is_missing:tools\n", "cannot be imported: ModuleNotFoundError"),
        (f"[{ENTRY_POINT}]\na = json:till\n", "cannot be imported: AttributeError"),
    ],
)
def test_a_wheel_without_one_good_entry_point_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    installed(tmp_path, text)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    with pytest.raises(SiteToolsError, match=message):
        from_entry_points()


def test_the_entry_point_of_a_wheel_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, f"[{ENTRY_POINT}]\na = json:dumps\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    assert from_entry_points()([1]) == "[1]"
