"""Keeps traces: one a turn, and no more of a thread than its cap allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from py_agent.model.errors import AgentError
from py_agent.storage.keys import TRACE_CAP_BYTES
from py_agent.trace.writer import TraceSpool, TraceWriter


class TraceIndex(Protocol):
    """Which traces there are; the store keeps it."""

    async def add_trace(self, thread: str, turn: str, key: str, size: int, cap: int) -> list[str]:
        """Notes a trace of ``size`` bytes; forgets the oldest ones of the thread above ``cap`` bytes.

        Returns:
            Keys of the forgotten ones: they are to be deleted from the spool.
        """
        ...


class Tracing:
    """Begins and ends traces.

    Args:
        spool: Where they go.
        key: Names the key of a trace from (thread, turn).
        index: Notes them and tells which are over the cap; None: nothing is deleted.
        cap: Bytes of one thread's traces.
    """

    def __init__(
        self,
        spool: TraceSpool,
        key: Callable[[str, str], str],
        *,
        index: TraceIndex | None = None,
        cap: int = TRACE_CAP_BYTES,
    ) -> None:
        self._spool = spool
        self._key = key
        self._index = index
        self._cap = cap
        #: The last refusal of spool or index. Traces never fail a turn; a host may show this.
        self.failure: AgentError | None = None

    def begin(self, *, thread: str, turn: str) -> TraceWriter:
        """The trace of a turn that begins."""
        return TraceWriter(self._spool, self._key(thread, turn))

    async def end(self, trace: TraceWriter, *, thread: str, turn: str) -> None:
        """Writes what waits, notes the trace, and deletes what is over the cap. Raises nothing."""
        await trace.close()
        self.failure = trace.failure
        if self._index is None or not trace.size:
            return
        try:
            for key in await self._index.add_trace(thread, turn, trace.key, trace.size, self._cap):
                await self._spool.delete(key)
        except AgentError as error:
            self.failure = error
