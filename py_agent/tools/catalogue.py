"""``tool_catalog`` and ``call_a_tool``: tools that are seldom needed, without their declarations in every prompt."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from py_agent.model.tool import Tool, ToolArgs, ToolResult
from py_agent.prompt.wording import wording
from py_agent.runner.admission import CALL_A_TOOL

NAME = "tool_catalog"


class CatalogArgs(ToolArgs):
    """Arguments of ``tool_catalog``."""

    contains: str = Field(default="", description="Only tools whose name or description contains this.")


class CallArgs(ToolArgs):
    """Arguments of ``call_a_tool``."""

    name: str = Field(description="Name of the tool, from tool_catalog.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="Its arguments.")


def tool_catalog() -> Tool:
    """The tool that lists the catalogue."""

    async def handler(args: CatalogArgs, context: Any) -> ToolResult:
        wanted = args.contains.casefold()
        found = [
            tool
            for tool in context.tools.in_catalogue()
            if tool.name in context.allowed and wanted in f"{tool.name} {tool.description}".casefold()
        ]
        return ToolResult(text=wording("catalogue", tools=[tool.spec() for tool in found]), summary="a list of tools")

    return Tool(
        name=NAME,
        description="Lists further tools: time, dates, arithmetic, units, memory.",
        args=CatalogArgs,
        handler=handler,
        pure=True,
    )


def call_a_tool() -> Tool:
    """The tool whose calls stand for others; ``runner/admission.py`` puts the meant one in its place."""

    async def handler(_args: CallArgs, _context: object) -> ToolResult:
        raise AssertionError("call_a_tool itself was run")

    return Tool(
        name=CALL_A_TOOL,
        description="Calls a tool of the catalogue.",
        args=CallArgs,
        handler=handler,
    )
