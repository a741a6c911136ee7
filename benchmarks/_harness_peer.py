"""Runs in an environment of its own: the same turn by us and by pydantic-ai, with models that are scripted."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from benchmarks import _harness_loop as ours
from py_agent.storage.sqlite import SqliteConnection
from py_agent.storage.store import Store


def history(messages: int) -> list[ModelMessage]:
    """A thread of ``messages`` messages with as many tool results as ours has."""
    kept: list[ModelMessage] = []
    for number in range(messages // 2):
        kept.append(ModelRequest(parts=[UserPromptPart(content=f"{ours.QUESTION} And number {number}?")]))
        if (number + 1) * 2 // ours.MESSAGES_PER_RESULT > number * 2 // ours.MESSAGES_PER_RESULT:
            call = ToolCallPart(tool_name="search_docs", args={"query": ours.QUESTION}, tool_call_id=f"h{number}")
            kept.append(ModelResponse(parts=[call]))
            result = ToolReturnPart(tool_name="search_docs", content=ours.SENTENCE * 9, tool_call_id=f"h{number}")
            kept.append(ModelRequest(parts=[result]))
        kept.append(ModelResponse(parts=[TextPart(content=ours.ANSWER)]))
    return kept


class Peer:
    """pydantic-ai's streaming loop: two tool calls and a text, as in our turn."""

    def __init__(self) -> None:
        self.spent_ms: list[float] = []
        self._left = 0.0
        self._step = 0
        self._agent = Agent(FunctionModel(stream_function=self._say))

        @self._agent.tool_plain
        def search_docs(query: str) -> str:
            """Searches the documentation."""
            return ours.SENTENCE * 60

        @self._agent.tool_plain
        def artifact_cat(call_id: str) -> str:
            """Shows the lines of a result."""
            return ours.SENTENCE * 36

    async def _say(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        before = (time.perf_counter() - self._left) * 1_000
        if self._step:
            self.spent_ms[-1] += before
            self.spent_ms.append(0.0)
        else:
            self.spent_ms.append(before)
        for chunk in self._chunks(self._step):
            self._left = time.perf_counter()
            yield chunk
            self.spent_ms[-1] += (time.perf_counter() - self._left) * 1_000
        self._step += 1
        self._left = time.perf_counter()

    def _chunks(self, step: int) -> list[Any]:
        name, arguments = ours.CALLS[step]
        if step == len(ours.CALLS) - 1:
            return [ours.ANSWER[at : at + ours.CHUNK] for at in range(0, len(ours.ANSWER), ours.CHUNK)]
        text = json.dumps(arguments)
        head = {0: DeltaToolCall(name=name, json_args="", tool_call_id=f"c{step}")}
        pieces = [text[at : at + ours.CHUNK] for at in range(0, len(text), ours.CHUNK)]
        return [head, *({0: DeltaToolCall(json_args=piece)} for piece in pieces)]

    async def turn(self, thread: list[ModelMessage]) -> None:
        """One turn in a thread, every event taken, as our widget takes ours."""
        self._step = 0
        self._left = time.perf_counter()
        async with self._agent.run_stream_events(ours.QUESTION, message_history=thread) as events:
            async for _ in events:
                pass
        self.spent_ms[-1] += (time.perf_counter() - self._left) * 1_000


async def main() -> None:
    """Prints both sides' figures as JSON, milliseconds a dispatch."""
    store = Store(SqliteConnection(":memory:"))
    await store.open()
    mine = await ours.measure(store, 200)
    peer = Peer()
    thread = history(200)
    await peer.turn(list(thread))
    peer.spent_ms.clear()
    for _ in range(ours.TURNS):
        await peer.turn(list(thread))
    print(
        json.dumps(
            {
                "peer": f"pydantic-ai {version('pydantic-ai-slim')}",
                "ours_median_ms": statistics.median(mine),
                "ours_mean_ms": statistics.fmean(mine),
                "peer_median_ms": statistics.median(peer.spent_ms),
                "peer_mean_ms": statistics.fmean(peer.spent_ms),
            }
        )
    )


asyncio.run(main())
