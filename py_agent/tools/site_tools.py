"""A site's own tools: what its owner's code makes is checked before a model sees it, and cannot end a turn."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import Any

from py_agent.model.errors import AgentError
from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult
from py_agent.runner.contexts import TurnContext

#: Group of the entry point that a wheel of tools names: its object is called with the turn and gives back the tools.
ENTRY_POINT = "py_agent.tools"

#: Tools that one site may add: each costs every prompt some eighty tokens.
MAX_TOOLS = 8

_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")


class SiteToolsError(AgentError):
    """A site's own tools cannot be used. The chat goes on without them."""

    code = "site_tools"


class SiteTools:
    """Makes a site's own tools for each turn; until ``use`` has been called there are none.

    Args:
        reserved: Tells whether a name is ours.
        report: Told what is wrong with the tools, for the site's owner; the same thing once.
    """

    def __init__(self, reserved: Callable[[str], bool], report: Callable[[str], None]) -> None:
        self._reserved = reserved
        self._report = report
        self._reported: set[str] = set()
        self._make: Callable[[TurnContext], Iterable[Tool]] | None = None

    def use(self, make: Any) -> None:
        """Takes the owner's function.

        Raises:
            SiteToolsError: It is none.
        """
        if not callable(make):
            raise SiteToolsError(
                f"The entry point {ENTRY_POINT} names {type(make).__name__}, which cannot be called.",
                hint="It must be a function of the turn that gives back tools.",
            )
        self._make = make

    def __call__(self, turn: TurnContext) -> list[Tool]:
        """The tools of one turn; none where something is wrong with them."""
        if self._make is None:
            return []
        try:
            return self._checked(self._make(turn))
        except SiteToolsError as error:
            self._tell(str(error))
        except Exception as error:
            self._tell(f"The site's own tools could not be made: {type(error).__name__}: {error}.")
        return []

    def _tell(self, text: str) -> None:
        if text not in self._reported:
            self._reported.add(text)
            self._report(text)

    def _checked(self, made: Iterable[Tool]) -> list[Tool]:
        tools = list(made)
        names: set[str] = set()
        for tool in tools:
            if not isinstance(tool, Tool):
                raise SiteToolsError(
                    f"Among the site's own tools there is {type(tool).__name__}, which is no Tool.",
                    hint="Make them with py_agent.model.tool.Tool.",
                )
            if not _NAME.fullmatch(tool.name) or self._reserved(tool.name) or tool.name in names:
                raise SiteToolsError(
                    f"A tool of the site cannot be called {tool.name[:60]!r}.",
                    hint="Names are snake_case, at most 48 characters, each once, and none of py-agent's own.",
                )
            if tool.terminal or tool.reader:
                raise SiteToolsError(
                    f"The site's tool {tool.name} says that it ends the turn or reads artifacts.",
                    hint="Leave out terminal and reader: both are the harness's own.",
                )
            names.add(tool.name)
        if len(tools) > MAX_TOOLS:
            raise SiteToolsError(
                f"The site has {len(tools)} tools of its own.", hint=f"At most {MAX_TOOLS} can be used."
            )
        return [self._guarded(tool) for tool in tools]

    def _guarded(self, tool: Tool) -> Tool:
        """``tool`` with an effect unless it denies one, and with a handler that raises nothing but ``ToolError``."""

        async def handler(args: ToolArgs, context: Any) -> ToolResult:
            try:
                result = await tool.handler(args, context)
            except (ToolError, asyncio.CancelledError):
                raise
            except Exception as error:
                text = f"The site's tool {tool.name} failed: {type(error).__name__}: {error}."
                self._tell(text)
                raise ToolError(text[:300]) from error
            if not isinstance(result, ToolResult):
                text = f"The site's tool {tool.name} gave back {type(result).__name__} instead of a ToolResult."
                self._tell(text)
                raise ToolError(text)
            return result

        declared = tool.pure or "effect" in tool.model_fields_set
        return tool.model_copy(update={"handler": handler, "effect": tool.effect if declared else True})


def from_entry_points() -> Any:
    """The function that the installed wheel of tools names.

    Raises:
        SiteToolsError: No wheel names one, more than one does, or it cannot be imported.
    """
    from importlib.metadata import entry_points

    found = list(entry_points(group=ENTRY_POINT))
    if len(found) != 1:
        raise SiteToolsError(
            f"The wheel of the site's own tools names {len(found)} entry points of the group {ENTRY_POINT}.",
            hint='Name one: [project.entry-points."py_agent.tools"] tools = "my_tools:tools".',
        )
    try:
        return found[0].load()
    except Exception as error:
        raise SiteToolsError(
            f"The site's own tools cannot be imported: {type(error).__name__}: {error}.",
            hint="A page has no packages besides the standard library's and py-agent's own.",
        ) from error
