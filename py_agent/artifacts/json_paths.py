"""Evaluates a JSONPath that a model wrote: RFC 9535 by a library, without regular expressions, within bounds.

The library hands one node after the other through its selectors. Here each selector and each filter first asks whether
there is budget left and gives the event loop its turn, so that no path can hold a page, however it is nested.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from py_agent.artifacts.fitting import Breathe

#: Characters of a path at most.
MAX_PATH_CHARS = 200

#: Nodes that one evaluation visits at most: 100,000 are ten times the values of a page's search index, and 20 MB.
NODE_LIMIT = 100_000

#: Milliseconds that one evaluation takes at most.
PATH_BUDGET_MS = 500


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
        self._ends = time.perf_counter() + ms / 1_000
        self.stopped = ""

    def node(self) -> None:
        """Takes one node from it.

        Raises:
            _Spent: There is none left, or no time.
        """
        self._nodes -= 1
        if self._nodes < 0:
            self.stopped = "nodes"
        elif not self._nodes % 64 and time.perf_counter() > self._ends:
            self.stopped = "time"
        if self.stopped:
            raise _Spent

    async def step(self) -> None:
        """Gives the event loop a turn if it is due.

        Raises:
            _Spent: There is no time left.
        """
        await self._breathe()
        if time.perf_counter() > self._ends:
            self.stopped = "time"
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
    environment.match_class = functools.partial(_node_class(), budget)
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

        def __init__(self, budget: Budget, **values: Any) -> None:
            budget.node()
            super().__init__(**values)
            self.budget = budget

        def new_child(self, obj: object, key: int | str) -> JSONPathMatch:
            return Node(
                self.budget,
                filter_context=self._filter_context,
                obj=obj,
                parent=None,
                parts=(),
                path="",
                root=self.root,
            )

        def add_child(self, *children: JSONPathMatch) -> None:
            pass

    return Node


def _pace(path: Any, budget: Budget) -> None:
    """Puts a step in front of every selector and every filter of a compiled path."""
    for segment in path.segments:
        segment.selectors = tuple(_paced(selector, budget) for selector in segment.selectors)


def _paced(selector: Any, budget: Budget) -> Any:
    from jsonpath.filter import FilterExpression
    from jsonpath.selectors import Filter

    if isinstance(selector, Filter):
        for query in _queries(selector.expression):
            _pace(query.path, budget)

        class Paced(FilterExpression):
            """A filter that asks first."""

            async def evaluate_async(self, context: Any) -> bool:
                await budget.step()
                return await super().evaluate_async(context)

        selector.expression = Paced(selector.expression.expression)
    return _PacedSelector(selector, budget)


def _queries(expression: Any) -> Iterator[Any]:
    """The paths in a filter, but not those in the filters of these paths."""
    from jsonpath.filter import FilterQuery

    if isinstance(expression, FilterQuery):
        yield expression
        return
    for child in expression.children():
        yield from _queries(child)


class _PacedSelector:
    """A selector that asks first."""

    def __init__(self, selector: Any, budget: Budget) -> None:
        self._selector = selector
        self._budget = budget

    async def resolve_async(self, node: Any) -> Any:
        await self._budget.step()
        async for match in self._selector.resolve_async(node):
            yield match
