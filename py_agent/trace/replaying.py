"""The boundaries of a turn, answered from its trace."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import Any

from py_agent.engines.base import EngineInfo, Progress
from py_agent.model.errors import AgentError, EngineError
from py_agent.model.passage import Passage
from py_agent.model.prompt import Chunk, GenerateOptions, Prompt
from py_agent.search.base import Hit, SearchResult


class Departed(AgentError):
    """The turn asked for something that the traced one did not: from here on the trace has no answers."""

    code = "departed"


class ReplayEngine:
    """Streams what the traced engine streamed, dispatch after dispatch."""

    def __init__(self, info: EngineInfo, lines: Iterable[dict[str, Any]]) -> None:
        self._info = info
        self._dispatches: deque[list[Chunk | EngineError]] = deque()
        ended = True
        for line in lines:
            if line["k"] not in ("chunks", "engine_error"):
                continue
            if ended:
                self._dispatches.append([])
                ended = False
            if line["k"] == "engine_error":
                error = line["error"]
                self._dispatches[-1].append(EngineError(error["message"], hint=error["hint"], code=error["code"]))
                ended = True
                continue
            chunks = [Chunk.model_validate(chunk) for chunk in line["chunks"]]
            self._dispatches[-1] += chunks
            ended = bool(chunks) and chunks[-1].kind == "end"

    async def open(self, progress: Progress | None = None) -> None:
        """Nothing to do."""

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
        """Streams the next recorded completion.

        Raises:
            Departed: The traced turn asked its engine no more.
            EngineError: What the traced engine raised.
        """
        if not self._dispatches:
            raise Departed("The turn asks the engine once more than the traced one did.")
        for item in self._dispatches.popleft():
            if isinstance(item, EngineError):
                raise item
            yield item

    @property
    def left(self) -> int:
        """Recorded completions that nobody has asked for."""
        return len(self._dispatches)

    async def cancel(self) -> None:
        """Nothing runs between two chunks."""

    async def count_tokens(self, text: str) -> int | None:
        """None: the trace holds no counts."""
        return None

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
        self._results: dict[tuple[str, int], deque[dict[str, Any]]] = {}
        for line in lines:
            if line["k"] == "passage":
                passage = Passage.model_validate(line["passage"])
                self._passages[passage.id] = passage
            elif line["k"] == "page":
                self._pages[line["page"]] = line["passages"]
            elif line["k"] == "search":
                self._results.setdefault((line["query"], line["top"]), deque()).append(line)

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

    def passage(self, passage_id: str) -> Passage:
        """The recorded passage.

        Raises:
            KeyError: The traced turn saw no such passage.
        """
        return self._passages[passage_id]

    def page(self, page: str) -> tuple[Passage, ...]:
        """The recorded page; empty if the traced turn read none of this name."""
        return tuple(self._passages[passage] for passage in self._pages.get(page, ()))


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
