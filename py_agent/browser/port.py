"""A port to a worker: an answer to each request, streams with credit, an end for every call when the worker dies.

Knows nothing of the browser: what carries the messages is a ``Wire`` (``wires.py`` in the page, a fake in tests).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any, Final, Protocol

from py_agent.engines.base import Progress
from py_agent.model.errors import AgentError, EngineError

#: Chunks of a stream that may be under way. Without a limit a flood of chunks delays everything else on the thread by
#: 300 ms; with 16 to 64 of them nothing measurable is lost in speed.
STREAM_CREDIT: Final = 32

#: Taken chunks after which new credit is given: half, so that the worker never waits for a reader that keeps up.
CREDIT_STEP: Final = STREAM_CREDIT // 2

#: Seconds for a worker to end a cancelled stream. One that computes on its own thread (the CPU backend) cannot hear
#: "cancel", and one on the GPU ends within a quarter of a second; one that takes longer is ended.
CANCEL_PATIENCE_S: Final = 5.0

Receive = Callable[[dict[str, Any], bytes | None], None]


class Wire(Protocol):
    """What carries messages to a worker that can be spawned again."""

    def listen(self, receive: Receive) -> None:
        """Sets the receiver, for life. ``{"type": "lost", "reason"}`` says that the worker died."""
        ...

    def post(self, message: dict[str, Any], body: bytes | None = None) -> None:
        """Sends a message; spawns the worker if none lives."""
        ...

    def terminate(self) -> None:
        """Ends the worker on purpose, without a ``lost``."""
        ...


class WorkerPort:
    """``engines.base.Port`` over a ``Wire``.

    Args:
        wire: Carries the messages.
        name: What the worker is, for messages: "engine worker".
    """

    def __init__(self, wire: Wire, name: str) -> None:
        self._wire = wire
        self._name = name
        self._count = 0
        self._calls: dict[str, asyncio.Future[tuple[Any, bytes | None]]] = {}
        self._streams: dict[str, asyncio.Queue[dict[str, Any]]] = {}
        self._progress: dict[str, Progress] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        wire.listen(self._receive)

    async def request(
        self,
        message: dict[str, Any],
        body: bytes | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Sends a request and returns its result; a result with a body is ``bytes``.

        Args:
            message: With ``type`` and its fields; the port adds ``id``.
            body: Travels beside the message.
            progress: Called with (bytes loaded, total bytes or None) while the worker reports any.

        Raises:
            AgentError: The worker's typed error, or code ``lost`` when the worker died.
        """
        call = self._next_id()
        future: asyncio.Future[tuple[Any, bytes | None]] = asyncio.get_running_loop().create_future()
        self._calls[call] = future
        if progress is not None:
            self._progress[call] = progress
        try:
            self._wire.post({**message, "id": call}, body)
            value, answer = await future
        finally:
            self._calls.pop(call, None)
            self._progress.pop(call, None)
        return value if answer is None else answer

    async def stream(self, message: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Sends a request that streams; yields its ``chunk`` messages and its ``end``. Close it early to cancel.

        Raises:
            AgentError: The worker's typed error, ``lost`` when the worker died.
            EngineError: ``cut``: chunks are missing.
        """
        call = self._next_id()
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._streams[call] = queue
        ended = False
        taken = 0
        try:
            self._wire.post({**message, "id": call, "credit": STREAM_CREDIT})
            while not ended:
                item = await queue.get()
                kind = item["type"]
                if kind == "error":
                    ended = True
                    raise error_of(item["error"])
                if kind == "end":
                    ended = True
                    if item["chunks"] != taken:
                        raise EngineError(
                            f"The {self._name} sent {item['chunks']} pieces of the answer, but {taken} arrived.",
                            hint="Ask again.",
                            code="cut",
                        )
                else:
                    taken += 1
                    if taken % CREDIT_STEP == 0:
                        self._wire.post({"type": "credit", "ask": call, "chunks": CREDIT_STEP})
                yield item
        finally:
            # A stream that was lost is forgotten already: a cancel would spawn a fresh worker for nothing.
            if self._streams.pop(call, None) is not None and not ended:
                self._spawn_task(self._cancel(call))

    async def cancel_streams(self) -> None:
        """Asks the worker to end every stream that runs; each then ends with reason ``cancelled``."""
        for call in list(self._streams):
            await self._cancel(call)

    def restart(self, reason: str) -> None:
        """Ends the worker; whatever waits for it fails with code ``lost``. The next request spawns a fresh one."""
        self._wire.terminate()
        self._lose(reason)

    def close(self) -> None:
        """Ends the worker for good."""
        self.restart(f"The {self._name} was closed.")

    async def _cancel(self, call: str) -> None:
        """Sends ``cancel`` and ends a worker that does not answer in time."""
        try:
            async with asyncio.timeout(CANCEL_PATIENCE_S):
                await self.request({"type": "cancel", "ask": call})
        except TimeoutError:
            self.restart(f"The {self._name} did not stop within {CANCEL_PATIENCE_S:.0f} s and was ended.")
        except AgentError as error:
            if error.code != "lost":  # lost: the worker is gone and the stream with it, which is what was wanted
                self.restart(f"The {self._name} could not stop and was ended. {error}")

    def _spawn_task(self, work: Any) -> None:
        """Runs ``work`` on its own: a generator that is being closed must not wait."""
        with suppress(RuntimeError):  # no running loop: the interpreter is shutting down
            task = asyncio.get_running_loop().create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next_id(self) -> str:
        self._count += 1
        return f"{self._name.split()[0]}-{self._count}"

    def _receive(self, message: dict[str, Any], body: bytes | None) -> None:
        kind = message["type"]
        if kind in ("lost", "device_lost"):
            self._wire.terminate()
            self._lose(str(message["reason"]))
            return
        call = str(message.get("id"))
        stream = self._streams.get(call)
        future = self._calls.get(call)
        if kind == "progress":
            if call in self._progress:
                self._progress[call](int(message["loaded"]), message["total"])
        elif stream is not None:
            stream.put_nowait(message)
        elif future is not None and not future.done():
            if kind == "error":
                future.set_exception(error_of(message["error"]))
            else:
                future.set_result((message.get("value"), body))

    def _lose(self, reason: str) -> None:
        """Fails every call and stream, once: they are forgotten at the same time."""
        error = {"code": "lost", "message": reason, "hint": "Ask again: it starts afresh."}
        calls, self._calls = self._calls, {}
        streams, self._streams = self._streams, {}
        for future in calls.values():
            if not future.done():
                future.set_exception(error_of(error))
        for queue in streams.values():
            queue.put_nowait({"type": "error", "error": error})


def error_of(error: dict[str, str]) -> AgentError:
    """The exception for an error that crossed a port."""
    return AgentError(error["message"], hint=error.get("hint", ""), code=error["code"])
