"""A trace is written while the turn runs, never makes it wait, and never fails it."""

from __future__ import annotations

import asyncio

from py_agent.model.errors import StorageError
from py_agent.runner.events import Status
from py_agent.storage.spool import MemorySpool
from py_agent.trace.lines import decode
from py_agent.trace.writer import FLUSH_MS, TraceWriter


class FullSpool(MemorySpool):
    def __init__(self) -> None:
        super().__init__()
        self.tries = 0

    async def append(self, key: str, data: bytes) -> None:
        self.tries += 1
        raise StorageError("No more space.", code="full")


class SlowSpool(MemorySpool):
    async def append(self, key: str, data: bytes) -> None:
        await asyncio.sleep(0.01)
        await super().append(key, data)


async def test_lines_are_in_the_spool_before_the_turn_ends() -> None:
    spool = MemorySpool()
    trace = TraceWriter(spool, "traces/t/1")
    trace.head(question="Why?")
    trace.event(Status(phase="planning"), "f")
    await asyncio.sleep(FLUSH_MS * 2 / 1_000)
    lines = decode(await spool.read("traces/t/1"))
    assert [line["k"] for line in lines] == ["turn", "event"]
    assert lines[1]["event"] == {"type": "status", "phase": "planning", "detail": ""}


async def test_closing_writes_what_waits_in_order() -> None:
    spool = MemorySpool()
    trace = TraceWriter(spool, "k")
    trace.head(question="Why?")
    for number in range(500):
        trace.line("nonce", value=str(number))
        if number % 100 == 0:
            await asyncio.sleep(FLUSH_MS / 1_000)
    await trace.close()
    await trace.close()
    lines = decode(await spool.read("k"))
    assert [line["value"] for line in lines[1:]] == [str(number) for number in range(500)]
    assert trace.size == await spool.size("k")


async def test_a_full_spool_ends_the_trace_and_not_the_turn() -> None:
    spool = FullSpool()
    trace = TraceWriter(spool, "k")
    trace.head(question="Why?")
    await trace.flush()
    trace.line("nonce", value="1")
    await trace.close()
    assert spool.tries == 1
    assert trace.failure is not None
    assert trace.failure.code == "full"


async def test_a_cancelled_flush_loses_no_line() -> None:
    spool = SlowSpool()
    trace = TraceWriter(spool, "k")
    trace.head(question="Why?")
    task = asyncio.ensure_future(trace.flush())
    await asyncio.sleep(0.005)
    task.cancel()
    trace.line("nonce", value="1")
    await trace.close()
    assert [line["k"] for line in decode(await spool.read("k"))] == ["turn", "nonce"]
