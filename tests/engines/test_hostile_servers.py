"""Servers that send without an end, in the smallest pieces, or count what cannot be: an ``EngineError``, in time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import repeat
from typing import Any

import pytest

from py_agent.engines.http import HttpRequest, HttpResponse
from py_agent.engines.openai import OpenAiEngine, OpenAiSettings
from py_agent.model.errors import EngineError
from py_agent.model.prompt import Prompt, PromptMessage, Usage
from tests.engines.conformance import PROMPT, take

END: dict[str, Any] = {"choices": [{"finish_reason": "stop"}]}


def event(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


class Server:
    """A port with a server behind it that is always faster than its reader."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = pieces
        self.bodies: list[bytes] = []

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpResponse]:
        self.bodies.append(request.body)

        async def body() -> AsyncIterator[bytes]:
            for piece in self.pieces:
                yield piece

        yield HttpResponse(200, {"content-type": "text/event-stream"}, body())


def engine(server: Server) -> OpenAiEngine:
    return OpenAiEngine(server, OpenAiSettings(base_url="http://there/v1", model="m"))


ENDLESS: list[Callable[[], Iterable[bytes]]] = [
    lambda: repeat(b": still here\n\n" * 5_000),
    lambda: repeat(b"data: {}\n\n" * 5_000),
    lambda: repeat(b"x"),
]


@pytest.mark.parametrize("pieces", ENDLESS)
async def test_an_answer_without_an_end_is_cut(pieces: Callable[[], Iterable[bytes]], monkeypatch: Any) -> None:
    monkeypatch.setattr("py_agent.engines.openai.MAX_STREAM_BYTES", 5_000_000)
    async with asyncio.timeout(60):
        with pytest.raises(EngineError, match="without an end") as raised:
            await take(engine(Server(pieces())))
    assert raised.value.code == "cut"


async def test_a_server_that_never_pauses_can_be_stopped() -> None:
    running = engine(Server(repeat(b": still here\n\n" * 5_000)))
    taking = asyncio.ensure_future(take(running))
    await asyncio.sleep(0.01)
    await running.cancel()
    assert (await taking)[-1].reason == "cancelled"


async def test_a_line_in_pieces_of_a_byte_takes_a_time_that_grows_with_it() -> None:
    data = event({"choices": [{"delta": {"content": "x" * 100_000}}]}) + event(END)

    started = time.perf_counter()
    chunks = await take(engine(Server(bytes([byte]) for byte in data)))
    assert time.perf_counter() - started < 10
    assert len(chunks[0].text) == 100_000


@pytest.mark.parametrize("count", [-1_000_000, True, 10**30, 1.5, "7", [7], None])
async def test_a_count_that_none_is_does_not_count(count: Any) -> None:
    said = {"choices": [{"delta": {"content": "x"}}], "usage": {"prompt_tokens": count, "completion_tokens": count}}
    chunks = await take(engine(Server([event(said), event(END)])))
    assert chunks[-1].usage == Usage()


async def test_half_a_character_in_a_prompt_is_sent_as_a_lost_one() -> None:
    server = Server([event({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]})])
    await take(engine(server), Prompt(messages=(*PROMPT.messages, PromptMessage(role="user", content="half \ud83d"))))
    assert json.loads(server.bodies[0])["messages"][-1]["content"].endswith("half \ufffd")
