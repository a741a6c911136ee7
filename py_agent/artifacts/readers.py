"""The forged readers: tools that open what a handle stands for.

Their declarations are fixed for the turn, so that the prompt's prefix stays. Forging binds a call id: until a handle
exists, the executor's allow-list keeps the reader shut.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from py_agent.artifacts.shelf import Shelf
from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult


class CatArgs(ToolArgs):
    """Arguments of ``artifact_cat``."""

    call_id: str = Field(description="Id of the call whose result to read, as the handle names it.")
    start: int = Field(default=1, ge=1, description="First line to show, counted from 1.")


def artifact_cat(shelf: Shelf) -> Tool:
    """The reader that pages through a result line by line."""

    async def handler(args: CatArgs, _context: Any) -> ToolResult:
        if args.call_id not in shelf.handles:
            known = ", ".join(shelf.handles)
            raise ToolError(
                f"There is no result {args.call_id!r}. Results that can be read: {known}.", code="no_handle"
            )
        if args.start > shelf.lines(args.call_id):
            last = shelf.lines(args.call_id)
            raise ToolError(f"{args.call_id} has {last} lines; start must be at most {last}.", code="bad_arguments")
        try:
            return ToolResult(text=await shelf.read(args.call_id, args.start))
        except KeyError as error:
            raise ToolError(f"The text of {args.call_id} is gone. Search again.", code="no_handle") from error

    return Tool(
        name="artifact_cat",
        description="Shows the next lines of a result that was kept aside. Call it for every handle you were given.",
        brief="Shows lines of a result that was kept aside.",
        args=CatArgs,
        handler=handler,
        reader=True,
    )


def readers(shelf: Shelf) -> tuple[Tool, ...]:
    """All readers of a turn, bound to its shelf."""
    return (artifact_cat(shelf),)
