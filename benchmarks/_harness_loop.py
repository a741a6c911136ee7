"""The measured loop: turns in a long thread, and what all but the engine takes. CPython and Pyodide run it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from py_agent.agent import DocsAgent
from py_agent.engines.base import EngineInfo, Progress
from py_agent.model.config import AgentConfig
from py_agent.model.passage import Passage
from py_agent.model.prompt import CallSpec, Chunk, GenerateOptions, Prompt
from py_agent.model.record import StoredMessage, StoredToolCall, TurnRecord
from py_agent.prompt.dialects.gemma4 import render_call
from py_agent.search.base import Hit, Page, SearchResult
from py_agent.storage.spool import MemorySpool
from py_agent.storage.store import Store

#: Tool results in the thread, one in every fifth message, whatever the length of the thread.
MESSAGES_PER_RESULT = 5

#: Measured turns of three dispatches each; one more comes first and is not counted.
TURNS = 12

#: Window that holds the whole thread: what is cut need not be assembled, and that would flatter the figure.
WINDOW = 262_144

#: Characters of one chunk: engines stream tokens.
CHUNK = 4

QUESTION = "Where does the lantern keep its conversations?"
SENTENCE = "Conversations are kept in the private file system of the browser until the reader deletes them. "
ANSWER = SENTENCE * 3
CALLS = (
    ("search_docs", {"query": "where are conversations kept"}),
    ("artifact_cat", {"call_id": "c1"}),
    ("provide_answer", {"answer": ANSWER, "sources": [{"passage": "p1", "quote": SENTENCE.strip()}]}),
)


class TimedEngine:
    """Says ``outputs`` in turn, for ever, and takes the time of all that happens outside of it, by dispatch."""

    def __init__(self, outputs: Sequence[str]) -> None:
        self._outputs = outputs
        self._count = 0
        self._left = 0.0
        #: Milliseconds outside the engine, one entry a dispatch: from its request to the next one, or to ``stop``.
        self.spent_ms: list[float] = []

    def start(self) -> None:
        """Starts the clock of a turn: what comes before its first dispatch counts to that."""
        self._left = time.perf_counter()
        self._before = 0.0
        self._first = True

    def stop(self) -> None:
        """Stops the clock at the end of a turn."""
        self.spent_ms[-1] += self._outside()

    def _outside(self) -> float:
        return (time.perf_counter() - self._left) * 1_000

    async def open(self, progress: Progress | None = None) -> None:
        """Nothing to do."""

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
        """Streams the next output."""
        before = self._outside()
        if self._first:
            self.spent_ms.append(before)
            self._first = False
        else:
            self.spent_ms[-1] += before
            self.spent_ms.append(0.0)
        output = self._outputs[self._count % len(self._outputs)]
        self._count += 1
        chunks = [Chunk(kind="text", text=output[at : at + CHUNK]) for at in range(0, len(output), CHUNK)]
        for chunk in [*chunks, Chunk(kind="end", reason="stop")]:
            self._left = time.perf_counter()
            yield chunk
            self.spent_ms[-1] += self._outside()
        self._left = time.perf_counter()

    async def cancel(self) -> None:
        """Nothing to do."""

    async def count_tokens(self, text: str) -> int | None:
        """None: it has no tokenizer."""
        return None

    def info(self) -> EngineInfo:
        """What the engine is."""
        return EngineInfo(name="timed", model=None, window=WINDOW)

    async def close(self) -> None:
        """Nothing to free."""


class FixedSearch:
    """Finds the same five passages, whatever is asked."""

    def __init__(self) -> None:
        self._passages = {
            f"p{number}": Passage(
                id=f"p{number}", page=f"{number}.html", anchor="", url=f"{number}.html", title="Lantern", text=text
            )
            for number, text in enumerate([SENTENCE * 12] * 5, start=1)
        }

    async def search(self, query: str, top: int = 5) -> SearchResult:
        hits = tuple(Hit(passage=passage, score=1.0) for passage in self._passages.values())
        return SearchResult(query=query, hits=hits[:top], missing=())

    async def passage(self, passage_id: str) -> Passage:
        return self._passages[passage_id]

    async def pages(self) -> list[Page]:
        return [Page(page=passage.page, title=passage.title) for passage in self._passages.values()]

    async def page(self, page: str) -> tuple[Passage, ...]:
        return tuple(self._passages.values())


async def seed(store: Store, thread: str, messages: int) -> None:
    """Fills ``thread`` with finished turns: ``messages`` messages, a tool result to every fifth of them."""
    for number in range(messages // 2):
        turn = f"{thread}-{number}"
        question = await store.open_question(thread, f"{QUESTION} And number {number}?", turn)
        wanted = (number + 1) * 2 // MESSAGES_PER_RESULT - number * 2 // MESSAGES_PER_RESULT
        calls = tuple(
            StoredToolCall(id=f"{turn}-c{index}", tool="search_docs", arguments={"query": QUESTION}, shown=SENTENCE * 9)
            for index in range(wanted)
        )
        answer = StoredMessage(
            id=f"{turn}-answer", thread=thread, turn=turn, role="assistant", content=ANSWER, status="answered"
        )
        await store.commit_turn(
            TurnRecord(turn=turn, thread=thread, question=question, answer=answer, tool_calls=calls)
        )


async def measure(store: Store, messages: int) -> list[float]:
    """Milliseconds outside the engine, one entry a dispatch, in a thread of ``messages`` messages."""
    outputs = [render_call(CallSpec(name=name, arguments=arguments)) for name, arguments in CALLS]
    engine = TimedEngine(outputs)
    agent = DocsAgent(engine, FixedSearch(), store, MemorySpool(), AgentConfig(planner=False))
    spent: list[float] = []
    for number in range(TURNS + 1):
        # A thread of its own each time: all turns see the same length.
        thread = f"{messages}-{number}"
        await seed(store, thread, messages)
        engine.spent_ms.clear()
        engine.start()
        end = await agent.run_turn(thread, QUESTION, emit=_ignore)
        engine.stop()
        if end.status != "answered" or end.dispatches != len(CALLS):
            raise RuntimeError(f"the turn ended {end.status} after {end.dispatches} dispatches: {end.error}")
        if number:
            spent += engine.spent_ms
    return spent


def _ignore(_event: Any) -> None:
    pass


def p95(values: Sequence[float]) -> float:
    """The 95th percentile, the next value above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
