"""The boundaries of a turn, recorded: what the engine streamed, what the index answered, which nonces were made."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from py_agent.engines.base import Engine, EngineInfo, Progress
from py_agent.model.clock import Clock, Offset
from py_agent.model.errors import EngineError
from py_agent.model.instruction import StandingInstruction
from py_agent.model.memory import Memory
from py_agent.model.passage import Passage
from py_agent.model.prompt import Chunk, GenerateOptions, Prompt
from py_agent.prompt.envelopes import NonceMaker
from py_agent.search.base import Page, Searcher, SearchResult
from py_agent.storage.base import InstructionStore, MemoryStore
from py_agent.trace.writer import TraceWriter

#: Chunks of a stream that one line tells of at most: a kill loses no more of a completion than the flush does.
CHUNKS_PER_LINE = 64


class RecordingEngine:
    """An engine whose stream goes into the trace on its way."""

    def __init__(self, engine: Engine, trace: TraceWriter) -> None:
        self._engine = engine
        self._trace = trace

    async def open(self, progress: Progress | None = None) -> None:
        """As the engine."""
        await self._engine.open(progress)

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
        """As the engine; errors are recorded, too."""
        waiting: list[dict[str, Any]] = []

        def write() -> None:
            if waiting:
                self._trace.line("chunks", chunks=list(waiting))
                waiting.clear()

        try:
            async with aclosing(cast(Any, self._engine.generate(prompt, options))) as stream:
                async for chunk in stream:
                    waiting.append(chunk.model_dump(mode="json", exclude_defaults=True, exclude={"usage"}))
                    if chunk.kind == "end" or len(waiting) >= CHUNKS_PER_LINE:
                        write()
                    yield chunk
        except EngineError as error:
            write()
            self._trace.line("engine_error", error=error.to_json())
            raise
        finally:
            write()

    async def cancel(self) -> None:
        """As the engine."""
        await self._engine.cancel()

    async def count_tokens(self, text: str) -> int | None:
        """As the engine."""
        tokens = await self._engine.count_tokens(text)
        self._trace.line("count", tokens=tokens)
        return tokens

    def info(self) -> EngineInfo:
        """As the engine."""
        return self._engine.info()

    async def close(self) -> None:
        """As the engine."""
        await self._engine.close()


class RecordingSearcher:
    """An index whose answers go into the trace, each passage once."""

    def __init__(self, search: Searcher, trace: TraceWriter) -> None:
        self._search = search
        self._trace = trace
        self._told: set[str] = set()

    async def search(self, query: str, top: int = 5) -> SearchResult:
        """As the index."""
        result = await self._search.search(query, top)
        for hit in result.hits:
            self._tell(hit.passage)
        told = result.model_dump(mode="json", exclude={"hits"})
        hits = [[hit.passage.id, hit.score] for hit in result.hits]
        self._trace.line("search", query=query, top=top, hits=hits, result=told)
        return result

    async def passage(self, passage_id: str) -> Passage:
        """As the index."""
        try:
            passage = await self._search.passage(passage_id)
        except KeyError:
            self._trace.line("missing", id=passage_id)
            raise
        self._tell(passage)
        return passage

    async def page(self, page: str) -> tuple[Passage, ...]:
        """As the index."""
        passages = await self._search.page(page)
        for passage in passages:
            self._tell(passage)
        self._trace.line("page", page=page, passages=[passage.id for passage in passages])
        return passages

    async def pages(self) -> Sequence[Page]:
        """As the index."""
        pages = await self._search.pages()
        self._trace.line("pages", pages=[[page.page, page.title] for page in pages])
        return pages

    def _tell(self, passage: Passage) -> None:
        if passage.id not in self._told:
            self._told.add(passage.id)
            self._trace.line("passage", passage=passage.model_dump(mode="json"))


def recording_nonce(nonce: NonceMaker, trace: TraceWriter) -> NonceMaker:
    """``nonce``, with each value it makes recorded."""

    def make() -> str:
        value = nonce()
        trace.line("nonce", value=value)
        return value

    return make


def recording_clock(clock: Clock, trace: TraceWriter) -> Clock:
    """``clock``, with each time that it tells recorded."""

    def now() -> dt.datetime:
        moment = clock()
        trace.line("clock", at=moment.isoformat())
        return moment

    return now


def recording_offset(offset: Offset, trace: TraceWriter) -> Offset:
    """``offset``, with each answer recorded."""

    def ahead(name: str, moment: dt.datetime) -> int:
        try:
            minutes = offset(name, moment)
        except ValueError:
            trace.line("offset", zone=name, minutes=None)
            raise
        trace.line("offset", zone=name, minutes=minutes)
        return minutes

    return ahead


class RecordingMemories:
    """A memory store whose answers go into the trace."""

    def __init__(self, memories: MemoryStore, trace: TraceWriter) -> None:
        self._memories = memories
        self._trace = trace
        trace.line("memories")

    async def add_memory(self, memory: Memory) -> None:
        """As the store."""
        await self._memories.add_memory(memory)

    async def search_memories(self, query: str, top: int) -> list[Memory]:
        """As the store."""
        found = await self._memories.search_memories(query, top)
        self._trace.line("recall", query=query, found=[memory.model_dump(mode="json") for memory in found])
        return found

    async def delete_memory(self, memory_id: str) -> bool:
        """As the store."""
        return await self._memories.delete_memory(memory_id)


class RecordingInstructions:
    """Standing instructions, recorded."""

    def __init__(self, store: InstructionStore, trace: TraceWriter) -> None:
        self._store = store
        self._trace = trace

    async def instructions(self) -> list[StandingInstruction]:
        """As the store."""
        found = await self._store.instructions()
        self._trace.line("standing", found=[item.model_dump(mode="json") for item in found])
        return found
