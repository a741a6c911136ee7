"""Evaluates a JSONPath that a model wrote: RFC 9535 by a library, without regular expressions, within bounds.

The library hands one node after the other through its selectors. Here each selector and each filter first asks whether
there is budget left and gives the event loop its turn, so that no path can hold a page, however it is nested.
"""

from __future__ import annotations

import functools
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

from py_agent.artifacts.fitting import Breathe

#: Characters of a path at most.
MAX_PATH_CHARS = 200

#: Nodes that one evaluation visits at most: 4 MB of JSON have about 300,000 values, and each may be looked at once and
#: some again. On most devices the time is up sooner.
NODE_LIMIT = 500_000

#: Milliseconds that one evaluation takes at most.
PATH_BUDGET_MS = 500


#: Nodes between two looks at the clock: half a millisecond in a page.
NODES_PER_LOOK = 32


class BadPath(ValueError):
    """The path is not one that may be used. The message says why."""


class _Spent(Exception):
    """The budget is used up."""


@dataclass
class Matches:
    """What a path matches.

    Attributes:
        values: The values, in the order of the document.
        stopped: Why not all of it was looked at; empty where it was.
    """

    values: list[Any] = field(default_factory=list)
    stopped: str = ""


class Budget:
    """What evaluations may still cost. Several may share one."""

    def __init__(self, breathe: Breathe, *, nodes: int = NODE_LIMIT, ms: float = PATH_BUDGET_MS) -> None:
        self._breathe = breathe
        self._nodes = nodes
        self._step_at = nodes
        self._ends = time.perf_counter() + ms / 1_000
        self.stopped = ""

    def node(self) -> None:
        """Takes one node from it.

        Raises:
            _Spent: There is none left, or no time.
        """
        self._nodes -= 1
        if not self._nodes % NODES_PER_LOOK:
            self._look()

    @property
    def due(self) -> bool:
        """Whether ``step`` should be awaited: a look at the clock costs a page as much as a node."""
        return self._nodes <= self._step_at

    async def step(self) -> None:
        """Gives the event loop a turn if it is time.

        Raises:
            _Spent: There is no time left.
        """
        self._step_at = self._nodes - NODES_PER_LOOK
        await self._breathe()
        self._look()

    def _look(self) -> None:
        if self._nodes <= 0:
            self.stopped = "nodes"
        elif time.perf_counter() > self._ends:
            self.stopped = "time"
        if self.stopped:
            raise _Spent


class Path:
    """A compiled path. It may be evaluated many times, one after the other.

    Raises:
        BadPath: It is too long, not RFC 9535, or uses ``match`` or ``search``.
    """

    def __init__(self, text: str, budget: Budget) -> None:
        text = text.strip()
        if len(text) > MAX_PATH_CHARS:
            raise BadPath(f"it has {len(text)} characters; {MAX_PATH_CHARS} are allowed")
        if not text.startswith("$"):
            text = f"${text}" if text.startswith(("[", ".")) else f"$.{text}"
        self._budget = budget
        self._compiled = _compile(text, budget)

    async def matches(self, root: Any, into: Matches) -> bool:
        """Adds what matches in ``root``.

        Returns:
            Whether something did.
        """
        found = len(into.values)
        if not isinstance(root, dict | list):  # the library would read a string as a JSON text
            if self._compiled.empty():
                into.values.append(root)
            return len(into.values) > found
        try:
            async for match in await self._compiled.finditer_async(root):
                into.values.append(match.obj)
                if self._budget.due:
                    await self._budget.step()
        except _Spent:
            into.stopped = self._budget.stopped
        return len(into.values) > found


def _compile(text: str, budget: Budget) -> Any:
    from jsonpath import JSONPathError

    try:
        compiled = _environment(budget).compile(text)
    except JSONPathError as error:
        raise BadPath(str(error).split("\n")[0][:200]) from None
    except (ValueError, RecursionError) as error:
        raise BadPath(str(error)[:200]) from None
    _pace(compiled, budget)
    return compiled


def _environment(budget: Budget) -> Any:
    environment = _environment_class()()
    node = _node_class()
    environment.match_class = lambda *, root, obj, filter_context, **_: node(budget, root, obj, filter_context)
    return environment


@functools.cache
def _environment_class() -> Any:
    from jsonpath import JSONPathEnvironment

    class Environment(JSONPathEnvironment):
        """RFC 9535 and no more, without the functions that take a regular expression."""

        def __init__(self) -> None:
            super().__init__(strict=True, filter_caching=False)

        def setup_function_extensions(self) -> None:
            super().setup_function_extensions()
            for name in ("match", "search"):
                del self.function_extensions[name]

    return Environment


@functools.cache
def _node_class() -> Any:
    from jsonpath import JSONPathMatch

    class Node(JSONPathMatch):
        """A node that costs budget, and knows neither its path nor its children: nobody asks."""

        __slots__ = ("budget",)

        def __init__(self, budget: Budget, root: Any, obj: object, context: Any) -> None:
            budget.node()
            self.budget = budget
            self.root = root
            self.obj = obj
            self.parent = None
            self.parts = ()
            self.path = ""
            self._filter_context = context

        def new_child(self, obj: object, key: int | str) -> JSONPathMatch:
            return Node(self.budget, self.root, obj, self._filter_context)

        def add_child(self, *children: JSONPathMatch) -> None:
            pass

    return Node


def _pace(path: Any, budget: Budget) -> None:
    """Puts segments that yield in the place of a compiled path's own, in its filters too."""
    from jsonpath.segments import JSONPathRecursiveDescentSegment
    from jsonpath.selectors import Filter

    segments = []
    for segment in path.segments:
        for selector in segment.selectors:
            if isinstance(selector, Filter):
                selector.expression = _paced(selector.expression, budget)
        deep = isinstance(segment, JSONPathRecursiveDescentSegment)
        segments.append(_Segment(segment.selectors, budget, deep=deep))
    path.segments = tuple(segments)


class _Segment:
    """A segment that gives the event loop its turn between two nodes. Only filters are evaluated in steps: a name, an
    index, a slice or a wildcard hands over one node after the other as it is."""

    def __init__(self, selectors: tuple[Any, ...], budget: Budget, *, deep: bool) -> None:
        self.selectors = selectors
        self._budget = budget
        self._deep = deep

    async def resolve_async(self, nodes: AsyncIterable[Any]) -> AsyncIterator[Any]:
        budget = self._budget
        async for start in nodes:
            for node in _descendants(start) if self._deep else (start,):
                if budget.due:
                    await budget.step()
                for selector in self.selectors:
                    if hasattr(selector, "expression"):
                        async for match in selector.resolve_async(node):
                            yield match
                    else:
                        for match in selector.resolve(node):
                            yield match


def _descendants(node: Any) -> Iterator[Any]:
    """A node and all lists and objects in it, in the order of the document."""
    waiting = [iter((node,))]
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
            continue
        yield node
        waiting.append(_containers(node))


def _containers(node: Any) -> Iterator[Any]:
    """The lists and objects that stand in a node."""
    value = node.obj
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return (node.new_child(child, key) for key, child in children if isinstance(child, dict | list))


def _paced(expression: Any, budget: Budget) -> Any:
    """A filter that takes a node for each value it judges, and gives the event loop its turn."""
    from jsonpath.filter import FilterExpression

    for query in _queries(expression):
        _pace(query.path, budget)

    class Paced(FilterExpression):
        async def evaluate_async(self, context: Any) -> bool:
            budget.node()
            if budget.due:
                await budget.step()
            return await super().evaluate_async(context)

    return Paced(expression.expression)


def _queries(expression: Any) -> Iterator[Any]:
    """The paths in a filter, but not those in the filters of these paths."""
    from jsonpath.filter import FilterQuery

    if isinstance(expression, FilterQuery):
        yield expression
        return
    for child in expression.children():
        yield from _queries(child)
