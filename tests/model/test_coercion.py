"""What a small model wrote in the wrong type is taken where it is clearly meant, and else refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult
from py_agent.model.tool_call import checksum

CASE = json.loads((Path(__file__).parents[1] / "fixtures" / "cases" / "T09.json").read_text(encoding="utf-8"))


class Search(ToolArgs):
    query: str
    limit: int | None = Field(default=None, ge=1, le=20)
    exact: bool | None = None


class Read(ToolArgs):
    path: str
    section: str | None = None


class Answer(ToolArgs):
    answer: str
    sources: tuple[str, ...]


class Item(ToolArgs):
    name: str
    size: float = 1.0


class Nested(ToolArgs):
    items: tuple[Item, ...] = ()
    meta: dict[str, Any] = Field(default_factory=dict)
    note: str = ""


async def entered(_args: ToolArgs, _context: object) -> ToolResult:
    raise AssertionError


def tool(name: str, args: type[ToolArgs]) -> Tool:
    return Tool(name=name, description="-", args=args, handler=entered)


TOOLS = {
    "search_docs": tool("search_docs", Search),
    "read_page": tool("read_page", Read),
    "provide_answer": tool("provide_answer", Answer),
}


@pytest.mark.parametrize("row", [row for row in CASE["rows"] if "ok" in row], ids=lambda row: json.dumps(row["raw"]))
def test_what_is_meant_is_taken_in_its_type(row: dict[str, Any]) -> None:
    args = TOOLS[row["tool"]].parse(row["raw"]).model_dump(mode="json", exclude_unset=True)
    assert json.dumps(args, sort_keys=True) == json.dumps(row["ok"], sort_keys=True)


@pytest.mark.parametrize(
    "row", [row for row in CASE["rows"] if "error_names" in row], ids=lambda row: json.dumps(row["raw"])
)
def test_what_is_not_meant_is_refused_by_name(row: dict[str, Any]) -> None:
    with pytest.raises(ToolError) as caught:
        TOOLS[row["tool"]].parse(row["raw"])
    for word in row["error_names"]:
        assert word in caught.value.message
    assert "Traceback" not in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("raw", "items"),
    [
        ({"items": [{"name": 7, "size": "2.5"}]}, [{"name": "7", "size": 2.5}]),
        ({"items": {"name": "a"}}, [{"name": "a", "size": 1.0}]),
        ({"items": '[{"name": "a", "size": 3}]'}, [{"name": "a", "size": 3.0}]),
        ({"items": ['{"name": "a"}']}, [{"name": "a", "size": 1.0}]),
        ({"note": "", "items": None, "meta": '{"a": 1}'}, []),
    ],
)
def test_the_rule_holds_inside_lists_and_objects(raw: dict[str, Any], items: list[Any]) -> None:
    args = tool("t", Nested).parse(raw).model_dump(mode="json")
    assert args["items"] == items
    assert args["meta"] == ({"a": 1} if "meta" in raw else {})


@pytest.mark.parametrize(
    "raw", [{"items": 5}, {"items": "[{"}, {"items": [{"name": "a", "size": True}]}, {"items": [[]]}, {"meta": "[1]"}]
)
def test_what_is_wrong_deep_inside_is_named(raw: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match=next(iter(raw))):
        tool("t", Nested).parse(raw)


def test_an_empty_text_for_a_required_argument_is_what_it_is() -> None:
    assert TOOLS["search_docs"].parse({"query": ""}).model_dump()["query"] == ""


def test_equal_calls_have_equal_checksums_whatever_their_order() -> None:
    assert checksum("f", {"a": 1, "b": [1, {"c": "ü"}]}) == checksum("f", {"b": [1, {"c": "ü"}], "a": 1})
    assert checksum("f", {"a": 1}) != checksum("f", {"a": "1"}) != checksum("g", {"a": 1})
