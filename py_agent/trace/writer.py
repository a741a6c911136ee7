"""Appends the lines of one turn's trace to the spool while the turn runs: what was appended survives a kill."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any, Protocol

from py_agent.model.base import Record
from py_agent.model.errors import AgentError
from py_agent.trace.lines import VERSION, PromptWriter, encode

#: Milliseconds for which lines are collected before they are appended together. A kill loses at most these; an append
#: for every token would cost more than the parsing of it.
FLUSH_MS = 100


class TraceSpool(Protocol):
    """The part of a ``Spool`` that traces need."""

    async def append(self, key: str, data: bytes) -> None:
        """See ``Spool.append``."""
        ...

    async def delete(self, prefix: str) -> int:
        """See ``Spool.delete``."""
        ...


class TraceWriter:
    """The trace of one turn. Writing never makes the turn wait, and never fails it.

    Args:
        spool: Where the lines go.
        key: Under which key.
    """

    def __init__(self, spool: TraceSpool, key: str) -> None:
        self.key = key
        #: Bytes appended so far.
        self.size = 0
        #: Why nothing is written any more, if the spool refused: the turn goes on without its trace.
        self.failure: AgentError | None = None
        self._spool = spool
        self._started = time.perf_counter()
        self._waiting: list[bytes] = []
        self._prompts = PromptWriter()
        self._flushing: asyncio.Task[None] | None = None
        self._append = asyncio.Lock()
        self._writes: set[asyncio.Task[None]] = set()

    def head(self, **values: Any) -> None:
        """The first line: what the turn was given."""
        self.line("turn", v=VERSION, **values)

    def event(self, event: Record, bus: str) -> None:
        """An event of one of the two buses, with the milliseconds since the turn began."""
        told = event.model_dump(mode="json")
        if isinstance(told.get("prompt"), str):
            told["prompt"] = self._prompts.shorten(told["prompt"])
        self.line("event", at=round((time.perf_counter() - self._started) * 1_000, 1), bus=bus, event=told)

    def line(self, kind: str, **values: Any) -> None:
        """Any other line."""
        if self.failure is not None:
            return
        self._waiting.append(encode({"k": kind, **values}))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self._later())

    async def flush(self) -> None:
        """Appends what waits, now. A cancelled caller leaves the append to go on: its lines are in nobody's hands."""
        task = asyncio.get_running_loop().create_task(self._write())
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        await asyncio.shield(task)

    async def close(self) -> None:
        """Appends what waits; nothing is written afterwards. Closing twice is allowed."""
        if self._flushing is not None:
            self._flushing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._flushing
        await self.flush()

    async def _write(self) -> None:
        async with self._append:
            data, self._waiting = b"".join(self._waiting), []
            if not data or self.failure is not None:
                return
            try:
                await self._spool.append(self.key, data)
                self.size += len(data)
            except AgentError as error:
                self.failure = error

    async def _later(self) -> None:
        await asyncio.sleep(FLUSH_MS / 1_000)
        await self.flush()
