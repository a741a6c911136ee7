"""Which tools a turn has: what is declared, what only the catalogue lists, and what a small window leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from py_agent.artifacts.readers import MEASURES, SMALL, readers
from py_agent.model.tool import Tool, ToolRegistry
from py_agent.runner.contexts import TurnContext
from py_agent.storage.base import MemoryStore
from py_agent.tools.catalogue import call_a_tool, tool_catalog
from py_agent.tools.delivery import provide_answer, say_i_dont_know
from py_agent.tools.list_pages import list_pages
from py_agent.tools.read_page import read_page
from py_agent.tools.search_docs import search_docs

#: Makes an integrator's own tools for one turn.
ExtraTools = Callable[[TurnContext], Iterable[Tool]]

#: Windows up to so many tokens get the small profile: declarations of all tools would take half of one.
SMALL_WINDOW = 2_048


#: Names of all tools that are ours, whatever the profile: an integrator's must differ.
RESERVED = frozenset(
    "search_docs read_page list_pages ask_reader navigate_to_page tool_catalog call_a_tool provide_answer"
    " say_i_dont_know get_current_time date_arithmetic calculate convert_units remember recall make_plan".split()
)


def is_reserved(name: str) -> bool:
    """Whether a tool of this name is ours, or may become ours: all readers of artifacts begin alike."""
    return name in RESERVED or name.startswith("artifact_")


def is_small(window: int) -> bool:
    """Whether a context window of ``window`` tokens gets the small profile."""
    return window <= SMALL_WINDOW


def toolset(turn: TurnContext, *, extra: ExtraTools | None = None, memories: MemoryStore | None = None) -> ToolRegistry:
    """The tools of one turn.

    Args:
        turn: The turn.
        extra: An integrator's own tools; they are declared in either profile.
        memories: Where ``remember`` and ``recall`` work; None: there are no such tools.
    """
    own = tuple(extra(turn)) if extra is not None else ()
    look = (search_docs(turn.search, turn.config.search_top), read_page(turn.search))
    end = (provide_answer(), say_i_dont_know())
    if is_small(turn.engine.info().window):
        registry = ToolRegistry.of([*look, *readers(turn.shelf, names=SMALL), *own, *end])
        registry.brief = True
        return registry
    forged = readers(turn.shelf, {kind for tool in own for kind in tool.produces})
    show = [tool for tool in forged if tool.name not in MEASURES]
    measure = [tool for tool in forged if tool.name in MEASURES]
    ask: tuple[Tool, ...] = ()
    if turn.gates.interactive:
        from py_agent.tools.reader import ask_reader, navigate_to_page

        ask = (ask_reader(), navigate_to_page(turn.search))
    declared = [*look, list_pages(turn.search), *show, *ask, tool_catalog(), call_a_tool(), *own, *end]
    return ToolRegistry.of(declared, [*_catalogue(turn, memories), *measure])


def _catalogue(turn: TurnContext, memories: MemoryStore | None) -> list[Tool]:
    from py_agent.tools.calculate import calculate
    from py_agent.tools.clock import date_arithmetic, get_current_time
    from py_agent.tools.units import convert_units

    tools = [get_current_time(turn.clock, turn.zone_offset), date_arithmetic(), calculate(), convert_units()]
    if memories is not None:
        from py_agent.tools.memory import recall, remember

        tools += [remember(memories), recall(memories)]
    return tools
