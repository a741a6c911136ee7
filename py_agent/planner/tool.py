"""``make_plan``: the only tool that the planner sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, create_model

from py_agent.model.plan import AnswerKind, AnswerScope
from py_agent.model.tool import Tool, ToolArgs, ToolResult

NAME = "make_plan"


async def _judged(_args: ToolArgs, _context: object) -> ToolResult:
    raise AssertionError("a terminal call was executed")


def make_plan(tool_names: Sequence[str]) -> Tool:
    """The tool; ``tools_to_use`` takes only names that exist."""
    names: Any = Literal[tuple(tool_names)]
    args = create_model(
        "PlanArgs",
        __base__=ToolArgs,
        answer_kind=(AnswerKind, Field(description="What kind of answer the question wants.")),
        tools_to_use=(list[names], Field(default_factory=list, description="The tools that the answer takes.")),
        answer_scope=(AnswerScope, Field(default="normal", description="How long the answer should be.")),
    )
    return Tool(
        name=NAME,
        description="Commits to the shape of the answer before it is written.",
        args=args,
        handler=_judged,
        terminal=True,
    )
