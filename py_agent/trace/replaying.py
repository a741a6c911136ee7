"""The boundaries of a turn, answered from its trace."""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any

from pydantic import ConfigDict

from py_agent.engines.base import EngineInfo, Progress
from py_agent.model.errors import AgentError, EngineError
from py_agent.model.instruction import StandingInstruction
from py_agent.model.memory import Memory
from py_agent.model.passage import Passage
from py_agent.model.prompt import Chunk, GenerateOptions, Prompt
from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult
from py_agent.search.base import Hit, Page, SearchResult


class Departed(AgentError):
    """The turn asked for something that the traced one did not: from here on the trace has no answers."""

    code = "departed"


class TraceEnds(AgentError):
    """The trace has nothing further: its turn was stopped or killed here."""

    code = "trace_ends"


#: One step of a recorded completion: a chunk, an error, or what the reader added meanwhile.
Step = Chunk | EngineError | str


class ReplayEngine:
    """Streams what the traced engine streamed, dispatch after dispatch.

    Args:
        info: The traced engine's.
        lines: The trace.
    """

    def __init__(self, info: EngineInfo, lines: Iterable[dict[str, Any]]) -> None:
        self._info = info
        #: Told what the reader added while the engine streamed, or between two requests.
        self.on_addition: Callable[[str], Awaitable[None]] | None = None
        #: Called when the recorded completions are used up, before that is raised.
        self.on_end: Callable[[], None] = lambda: None
        self._dispatches: deque[list[Step]] = deque()
        self._counts: deque[int | None] = deque()
        #: What the reader added before the first request: to be added before it again.
        self.early: list[str] = []
        running = False
        for line in lines:
            kind = line["event"]["type"] if line["k"] == "event" else line["k"]
            if kind == "request_start":
                self._dispatches.append([])
                running = True
            elif kind == "addition":
                text = str(line["event"]["text"])
                if not self._dispatches:
                    self.early.append(text)
                elif running:
                    self._dispatches[-1].append(text)
                else:  # between two requests: the next one told of it, so before the end of this one is early enough
                    self._dispatches[-1].insert(-1, text)
            elif kind == "count":
                self._counts.append(line["tokens"])
            elif kind == "chunks":
                chunks = [Chunk.model_validate(chunk) for chunk in line["chunks"]]
                self._dispatches[-1] += chunks
                running = running and not any(chunk.kind == "end" for chunk in chunks)
            elif kind == "engine_error":
                error = line["error"]
                self._dispatches[-1].append(EngineError(error["message"], hint=error["hint"], code=error["code"]))
                running = False

    async def open(self, progress: Progress | None = None) -> None:
        """Nothing to do."""

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
        """Streams the next recorded completion.

        Raises:
            Departed: The traced turn asked its engine no more.
            TraceEnds: The recorded completion stops without an end.
            EngineError: What the traced engine raised.
        """
        if not self._dispatches:
            self.on_end()
            raise Departed("The turn asks the engine once more than the traced one did.")
        last: Step | None = None
        for last in self._dispatches.popleft():
            if isinstance(last, EngineError):
                raise last
            if isinstance(last, str):
                if self.on_addition is not None:
                    await self.on_addition(last)
                continue
            yield last
        if not isinstance(last, Chunk) or last.kind != "end":
            self.on_end()
            raise TraceEnds("The traced turn was stopped here.")

    @property
    def left(self) -> int:
        """Recorded completions that nobody has asked for."""
        return len(self._dispatches)

    async def cancel(self) -> None:
        """Nothing runs between two chunks."""

    async def count_tokens(self, text: str) -> int | None:
        """What the traced engine counted, in order; None behind the last."""
        return self._counts.popleft() if self._counts else None

    def info(self) -> EngineInfo:
        """The traced engine's."""
        return self._info

    async def close(self) -> None:
        """Nothing to free."""


class ReplaySearcher:
    """Gives the answers that the traced index gave."""

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        self._passages: dict[str, Passage] = {}
        self._pages: dict[str, list[str]] = {}
        self._all: list[Page] = []
        self._results: dict[tuple[str, int], deque[dict[str, Any]]] = {}
        for line in lines:
            if line["k"] == "passage":
                passage = Passage.model_validate(line["passage"])
                self._passages[passage.id] = passage
            elif line["k"] == "page":
                self._pages[line["page"]] = line["passages"]
            elif line["k"] == "pages":
                self._all = [Page(page=page, title=title) for page, title in line["pages"]]
            elif line["k"] == "search":
                self._results.setdefault((line["query"], line["top"]), deque()).append(line)

    async def pages(self) -> Sequence[Page]:
        """The recorded pages; none if the traced turn listed none."""
        return self._all

    async def search(self, query: str, top: int = 5) -> SearchResult:
        """The recorded result.

        Raises:
            Departed: The traced turn did not search for this.
        """
        results = self._results.get((query, top))
        if not results:
            raise Departed(f"The turn searches for {query!r} (top {top}), which the traced one did not.")
        line = results.popleft() if len(results) > 1 else results[0]
        hits = tuple(Hit(passage=self._passages[found], score=score) for found, score in line["hits"])
        return SearchResult.model_validate({**line["result"], "hits": hits})

    async def passage(self, passage_id: str) -> Passage:
        """The recorded passage.

        Raises:
            KeyError: The traced turn saw no such passage.
        """
        return self._passages[passage_id]

    async def page(self, page: str) -> tuple[Passage, ...]:
        """The recorded page; empty if the traced turn read none of this name."""
        return tuple(self._passages[passage] for passage in self._pages.get(page, ()))


class ReplayTools:
    """An integrator's own tools, with the declarations and the results that they had.

    Args:
        lines: The trace.
    """

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        self._declared: list[dict[str, Any]] = []
        self._results: deque[dict[str, Any]] = deque()
        for line in lines:
            if line["k"] == "tools":
                self._declared = line["tools"]
            elif line["k"] == "tool":
                self._results.append(line)

    @property
    def names(self) -> set[str]:
        """Their names."""
        return {str(told["name"]) for told in self._declared}

    @property
    def any(self) -> bool:
        """Whether the traced turn had such tools."""
        return bool(self._declared)

    def tools(self, _turn: object) -> list[Tool]:
        """The tools."""
        return [self._tool(told) for told in self._declared]

    def _tool(self, told: dict[str, Any]) -> Tool:
        class RecordedArgs(ToolArgs):
            model_config = ConfigDict(extra="allow")

            @classmethod
            def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
                return dict(told["parameters"])

        async def handler(_args: ToolArgs, _context: object) -> ToolResult:
            if not self._results or self._results[0]["tool"] != told["name"]:
                raise Departed(f"The turn calls {told['name']}, which the traced one did not do here.")
            line = self._results.popleft()
            if "error" in line:
                error = line["error"]
                raise ToolError(error["message"], hint=error["hint"], code=error["code"])
            if line.get("streamed"):
                raise Departed(f"The result of {told['name']} was streamed and is not in the trace.")
            return ToolResult.model_validate(line["result"])

        return Tool(
            name=told["name"],
            description=told["description"],
            args=RecordedArgs,
            handler=handler,
            produces=tuple(told.get("produces", ("text",))),
        )


def replay_nonces(lines: Iterable[dict[str, Any]]) -> Any:
    """A nonce maker that gives the recorded values.

    The maker raises:
        Departed: The traced turn made no more.
    """
    values = deque(str(line["value"]) for line in lines if line["k"] == "nonce")

    def make() -> str:
        if not values:
            raise Departed("The turn puts more into envelopes than the traced one did.")
        return values.popleft()

    return make


class ReplayClock:
    """The times and the time zones of a trace."""

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        self._times: deque[str] = deque()
        self._zones: dict[str, int | None] = {}
        for line in lines:
            if line["k"] == "clock":
                self._times.append(line["at"])
            elif line["k"] == "offset":
                self._zones[line["zone"]] = line["minutes"]

    def now(self) -> dt.datetime:
        """The next recorded time.

        Raises:
            Departed: The traced turn did not ask again.
        """
        if not self._times:
            raise Departed("The turn asks for the time once more than the traced one did.")
        return dt.datetime.fromisoformat(self._times.popleft())

    def offset(self, name: str, moment: dt.datetime) -> int:
        """The recorded offset.

        Raises:
            ValueError: There is no such time zone, as there was none.
            Departed: The traced turn did not ask for this one.
        """
        if name not in self._zones:
            raise Departed(f"The turn asks for the time zone {name!r}, which the traced one did not.")
        minutes = self._zones[name]
        if minutes is None:
            raise ValueError(name)
        return minutes


class ReplayMemories:
    """Recalls what the traced turn recalled; keeps and deletes nothing."""

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        self._found = deque(line["found"] for line in lines if line["k"] == "recall")

    async def add_memory(self, memory: Memory) -> None:
        """Keeps nothing."""

    async def search_memories(self, query: str, top: int) -> list[Memory]:
        """What was recalled.

        Raises:
            Departed: The traced turn recalled no more.
        """
        if not self._found:
            raise Departed("The turn recalls once more than the traced one did.")
        return [Memory.model_validate(memory) for memory in self._found.popleft()]

    async def delete_memory(self, memory_id: str) -> bool:
        """Deletes nothing."""
        return False


class ReplayInstructions:
    """The standing instructions that the traced turn had."""

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        self._found = next((line["found"] for line in lines if line["k"] == "standing"), None)

    @property
    def any(self) -> bool:
        """Whether the traced turn asked for some."""
        return self._found is not None

    async def instructions(self) -> list[StandingInstruction]:
        """What there was."""
        return [StandingInstruction.model_validate(item) for item in self._found or ()]
