"""The port, over a wire of the test: every call ends exactly once, whatever the worker does."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from py_agent.browser import port as port_module
from py_agent.browser.port import CREDIT_STEP, STREAM_CREDIT, Receive, WorkerPort
from py_agent.model.errors import AgentError, EngineError


class FakeWire:
    """Keeps what is posted; the test plays the worker."""

    def __init__(self) -> None:
        self.posted: list[dict[str, Any]] = []
        self.bodies: list[bytes | None] = []
        self.terminated = 0

    def listen(self, receive: Receive) -> None:
        self.receive = receive

    def post(self, message: dict[str, Any], body: bytes | None = None) -> None:
        self.posted.append(message)
        self.bodies.append(body)

    def terminate(self) -> None:
        self.terminated += 1

    def say(self, type: str, body: bytes | None = None, **fields: Any) -> None:
        self.receive({"type": type, **fields}, body)

    def posted_types(self) -> list[str]:
        return [message["type"] for message in self.posted]


@pytest.fixture
def wire() -> FakeWire:
    return FakeWire()


@pytest.fixture
def port(wire: FakeWire) -> WorkerPort:
    return WorkerPort(wire, "engine worker")


def chunk(call: str, text: str) -> dict[str, Any]:
    return {"type": "chunk", "id": call, "text": text, "thinking": "", "call": None}


def end(call: str, chunks: int, reason: str = "stop") -> dict[str, Any]:
    return {
        "type": "end",
        "id": call,
        "chunks": chunks,
        "reason": reason,
        "prompt_tokens": None,
        "output_tokens": None,
    }


async def take(port: WorkerPort) -> list[dict[str, Any]]:
    async with aclosing(port.stream({"type": "generate"})) as stream:
        return [item async for item in stream]


async def test_a_request_gets_its_own_answer(wire: FakeWire, port: WorkerPort) -> None:
    first = asyncio.create_task(port.request({"type": "a"}))
    second = asyncio.create_task(port.request({"type": "b"}, b"body"))
    await asyncio.sleep(0)
    assert wire.bodies == [None, b"body"]
    wire.say("result", id=wire.posted[1]["id"], value=2)
    wire.say("result", id=wire.posted[0]["id"], value=1)
    assert (await first, await second) == (1, 2)


async def test_an_answer_with_a_body_is_the_body(wire: FakeWire, port: WorkerPort) -> None:
    call = asyncio.create_task(port.request({"type": "spool_read"}))
    await asyncio.sleep(0)
    wire.say("result", b"bytes", id=wire.posted[0]["id"], value=None)
    assert await call == b"bytes"


async def test_an_error_keeps_its_code_and_hint(wire: FakeWire, port: WorkerPort) -> None:
    call = asyncio.create_task(port.request({"type": "a"}))
    await asyncio.sleep(0)
    wire.say("error", id=wire.posted[0]["id"], error={"code": "overflow", "message": "Too long.", "hint": "Cut it."})
    with pytest.raises(AgentError) as caught:
        await call
    assert (caught.value.code, caught.value.message, caught.value.hint) == ("overflow", "Too long.", "Cut it.")


async def test_a_late_answer_and_a_second_answer_are_dropped(wire: FakeWire, port: WorkerPort) -> None:
    call = asyncio.create_task(port.request({"type": "a"}))
    await asyncio.sleep(0)
    wire.say("result", id=wire.posted[0]["id"], value=1)
    wire.say("result", id=wire.posted[0]["id"], value=2)
    wire.say("result", id="never-asked", value=3)
    assert await call == 1


@pytest.mark.parametrize("kind", ["lost", "device_lost"])
async def test_a_dead_worker_ends_every_call_and_stream_once(wire: FakeWire, port: WorkerPort, kind: str) -> None:
    calls = [asyncio.create_task(port.request({"type": "a"})) for _ in range(2)]
    stream = asyncio.create_task(take(port))
    await asyncio.sleep(0)
    wire.say(kind, reason="It died.")
    wire.say(kind, reason="It died again.")
    for task in (*calls, stream):
        with pytest.raises(AgentError) as caught:
            await task
        assert (caught.value.code, caught.value.message) == ("lost", "It died.")
    wire.say("result", id=wire.posted[0]["id"], value="from the grave")


async def test_the_next_request_after_a_death_is_sent(wire: FakeWire, port: WorkerPort) -> None:
    wire.say("lost", reason="It died.")
    call = asyncio.create_task(port.request({"type": "a"}))
    await asyncio.sleep(0)
    wire.say("result", id=wire.posted[-1]["id"], value="alive")
    assert await call == "alive"


async def test_a_stream_gives_its_chunks_and_its_end(wire: FakeWire, port: WorkerPort) -> None:
    stream = asyncio.create_task(take(port))
    await asyncio.sleep(0)
    call = wire.posted[0]["id"]
    for message in (chunk(call, "a"), chunk(call, "b"), end(call, 2)):
        wire.receive(message, None)
    assert [item.get("text") for item in await stream] == ["a", "b", None]
    assert wire.posted_types() == ["generate"]


async def test_credit_is_given_as_chunks_are_taken(wire: FakeWire, port: WorkerPort) -> None:
    stream = asyncio.create_task(take(port))
    await asyncio.sleep(0)
    assert wire.posted[0]["credit"] == STREAM_CREDIT
    call = wire.posted[0]["id"]
    for number in range(STREAM_CREDIT):
        wire.receive(chunk(call, str(number)), None)
    wire.receive(end(call, STREAM_CREDIT), None)
    await stream
    given = [message for message in wire.posted if message["type"] == "credit"]
    assert [message["chunks"] for message in given] == [CREDIT_STEP] * (STREAM_CREDIT // CREDIT_STEP)
    assert {message["ask"] for message in given} == {call}


async def test_a_missing_chunk_is_noticed(wire: FakeWire, port: WorkerPort) -> None:
    stream = asyncio.create_task(take(port))
    await asyncio.sleep(0)
    call = wire.posted[0]["id"]
    wire.receive(chunk(call, "a"), None)
    wire.receive(end(call, 2), None)
    with pytest.raises(EngineError) as caught:
        await stream
    assert caught.value.code == "cut"


async def test_a_stream_that_is_closed_early_is_cancelled(wire: FakeWire, port: WorkerPort) -> None:
    call = ""
    async with aclosing(port.stream({"type": "generate"})) as stream:
        asyncio.get_running_loop().call_soon(lambda: wire.receive(chunk(wire.posted[0]["id"], "a"), None))
        async for _ in stream:
            call = wire.posted[0]["id"]
            break
    await asyncio.sleep(0)
    assert wire.posted[-1]["type"] == "cancel"
    assert wire.posted[-1]["ask"] == call
    wire.say("result", id=wire.posted[-1]["id"], value=None)
    await asyncio.sleep(0)
    assert wire.terminated == 0


async def test_a_cancelled_task_cancels_its_stream(wire: FakeWire, port: WorkerPort) -> None:
    stream = asyncio.create_task(take(port))
    await asyncio.sleep(0)
    stream.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stream
    await asyncio.sleep(0)
    assert wire.posted_types() == ["generate", "cancel"]


async def test_a_worker_that_does_not_stop_is_ended(
    wire: FakeWire, port: WorkerPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port_module, "CANCEL_PATIENCE_S", 0.01)
    stream = asyncio.create_task(take(port))
    waiting = asyncio.create_task(port.request({"type": "count_tokens"}))
    await asyncio.sleep(0)
    stream.cancel()
    with pytest.raises(AgentError) as caught:
        await waiting
    assert caught.value.code == "lost"
    assert wire.terminated == 1


async def test_progress_reaches_the_one_who_asked(wire: FakeWire, port: WorkerPort) -> None:
    seen: list[tuple[int, int | None]] = []
    call = asyncio.create_task(port.request({"type": "load"}, progress=lambda *step: seen.append(step)))
    await asyncio.sleep(0)
    name = wire.posted[0]["id"]
    wire.say("progress", id=name, loaded=1, total=None)
    wire.say("progress", id=name, loaded=2, total=2)
    wire.say("result", id=name, value=None)
    await call
    wire.say("progress", id=name, loaded=3, total=2)
    assert seen == [(1, None), (2, 2)]


async def test_a_stream_that_was_lost_is_not_cancelled_at_a_fresh_worker(wire: FakeWire, port: WorkerPort) -> None:
    stream = port.stream({"type": "generate"})
    first = asyncio.create_task(anext(stream))
    await asyncio.sleep(0)
    wire.receive(chunk(wire.posted[0]["id"], "a"), None)
    await first
    wire.say("lost", reason="It died.")
    await stream.aclose()
    await asyncio.sleep(0)
    assert wire.posted_types() == ["generate"]
