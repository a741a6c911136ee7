"""Arguments that no model should write: numbers of thousands of digits, and schemas that take several types."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pydantic import Field

from py_agent.model.coerce import NotMeant, coerce
from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult


class Count(ToolArgs):
    number: int = 0
    share: float = 0.0
    name: str = ""


class Tree(ToolArgs):
    name: str = ""
    children: list[Tree] = Field(default_factory=list)


async def entered(_args: ToolArgs, _context: object) -> ToolResult:
    raise AssertionError("only arguments are tested here")


@pytest.mark.parametrize(
    "arguments",
    [
        {"number": "1" * 400 + ".0"},
        {"number": "1" * 5_000},
        {"number": "1" * 5_000 + ".0"},
        {"share": "1" * 200_000 + "x"},
        {"name": 10**5_000},
    ],
)
def test_a_number_without_an_end_is_an_error_for_the_model(arguments: dict[str, Any]) -> None:
    started = time.perf_counter()
    with pytest.raises(ToolError):
        Tool(name="count", description="Counts.", args=Count, handler=entered).parse(arguments)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("value", "kinds", "taken"),
    [
        ("abc", ("integer", "string"), "abc"),
        ("5", ("integer", "string"), "5"),
        (5, ("string", "integer"), 5),
        (5, ("string", "boolean"), "5"),
        (True, ("integer", "boolean"), True),
        ("[1]", ("array", "integer"), [1]),
    ],
)
def test_a_value_may_be_any_of_the_types_that_are_taken(value: Any, kinds: tuple[str, ...], taken: Any) -> None:
    found = coerce(value, {"anyOf": [{"type": kind} for kind in kinds]}, where="it")
    assert (found, type(found)) == (taken, type(taken))


def test_a_value_of_none_of_the_types_is_refused_by_name() -> None:
    with pytest.raises(NotMeant, match="it must be"):
        coerce("abc", {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, where="it")


def test_arguments_that_hold_themselves_can_be_declared_and_called() -> None:
    tree = Tool(name="tree", description="Takes a tree.", args=Tree, handler=entered)
    assert "children" in tree.spec().parameters["properties"]
    parsed = tree.parse({"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]})
    assert isinstance(parsed, Tree)
    assert parsed.children[0].children[0].name == "c"
