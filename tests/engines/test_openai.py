"""A model behind an OpenAI-compatible endpoint: a local server streams what such servers stream."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from typing import Any

import pytest

from py_agent.engines.base import Engine
from py_agent.engines.http import HttpxPort
from py_agent.engines.openai import OpenAiEngine, OpenAiSettings
from py_agent.engines.sse import events
from py_agent.model.errors import EngineError
from py_agent.model.prompt import CallSpec
from tests import sse_server as sse
from tests.engines import conformance
from tests.engines.conformance import LATER, take, whole
from tests.harness import World, passage

pytestmark = pytest.mark.cpython  # it opens sockets; tests/browser drives the same engine through the page's fetch


class Remote:
    """Makes engines, each with a server of its own."""

    scripted = True

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.server: sse.SseServer

    async def __call__(self, *outputs: str | EngineError, delay: float = 0.0) -> Engine:
        answers = [
            sse.error(500, output.message) if isinstance(output, EngineError) and output.code == "out_of_memory"
            else sse.error(400 if output.code == "overflow" else 403, output.message)
            if isinstance(output, EngineError)
            else spoken(output, delay)
            for output in outputs
        ]  # fmt: skip
        self.server = self._stack.enter_context(sse.SseServer(*answers))
        return await engine(self.server)


def spoken(text: str, delay: float) -> sse.Answer:
    data = "".join(sse.event({"content": word}) for word in re.findall(r"\S+\s*", text))
    return sse.raw((data + sse.event({}, "stop") + "data: [DONE]\n\n").encode(), 100, delay)


async def engine(server: sse.SseServer, **settings: Any) -> OpenAiEngine:
    stall_s = settings.pop("stall_s", 20.0)
    made = OpenAiEngine(HttpxPort(), OpenAiSettings(base_url=server.url, **settings), stall_s=stall_s)
    await made.open()
    return made


@pytest.mark.parametrize("behaviour", conformance.BEHAVIOURS, ids=lambda behaviour: behaviour.__name__)
async def test_it_conforms(behaviour: Callable[[Any], Awaitable[None]]) -> None:
    with ExitStack() as stack:
        await behaviour(Remote(stack))


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64, 100_000])
async def test_a_stream_is_read_whatever_its_pieces(piece: int) -> None:
    with sse.SseServer(sse.stream("llamacpp_text", piece), sse.stream("llamacpp_call", piece)) as server:
        made = await engine(server)
        chunks = await take(made)
        assert "".join(chunk.text for chunk in chunks) == "The light goes on: ü 🙂."
        assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.output_tokens) == (41, 6)
        chunks = await take(made)
        assert "".join(chunk.text for chunk in chunks if chunk.kind == "thinking") == "I should search."
        assert [chunk.call for chunk in chunks if chunk.call] == [
            CallSpec(name="search_docs", arguments={"query": 'light "x"'}),
            CallSpec(name="list_pages", arguments={}),
        ]


async def test_a_whole_call_in_one_event_is_read() -> None:
    with sse.SseServer(sse.stream("ollama_call")) as server:
        chunks = await take(await engine(server))
        assert [chunk.call for chunk in chunks if chunk.call] == [
            CallSpec(name="search_docs", arguments={"query": "light"})
        ]
        assert chunks[-1].reason == "stop"


async def test_a_call_that_the_limit_cut_does_not_come() -> None:
    with sse.SseServer(sse.stream("vllm_cut")) as server:
        chunks = await take(await engine(server))
        assert [chunk.kind for chunk in chunks] == ["text", "end"]
        assert chunks[-1].reason == "length"


async def test_the_request_is_what_such_servers_take() -> None:
    with sse.SseServer(sse.said("Yes.")) as server:
        await take(await engine(server, api_key="k3y"), LATER, tokens=33)
        body = server.asked[0]
    assert (body["model"], body["stream"], body["max_tokens"]) == ("gemma-3-270m", True, 33)
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    call = body["messages"][2]["tool_calls"][0]
    assert json.loads(call["function"]["arguments"]) == {"query": 'a "b"\n'}
    assert body["messages"][3]["tool_call_id"] == call["id"]
    assert body["tools"][0]["function"]["name"] == "search_docs"
    assert server.headers[0]["authorization"] == "Bearer k3y"


TOO_LONG = {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}
BROKEN_CALL = {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{a"}}]}


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (sse.error(400, TOO_LONG), "overflow", "context size"),
        (sse.error(401, "Invalid API key"), "refused", "key"),
        (sse.error(404, "model 'x' not found"), "load_failed", "not found"),
        (sse.error(429, "slow down", Retry_After="7"), "refused", "7 s"),
        (sse.error(503, {"message": "Loading model"}), "refused", "busy"),
        (sse.error(500, "CUDA out of memory"), "out_of_memory", "memory"),
        (sse.raw(b"<html>Bad gateway</html>", status=502), "refused", "502"),
        (sse.raw(sse.event({"content": "The li"}).encode()), "cut", "in the middle"),
        (sse.raw(sse.event({"content": "The li"}).encode(), cut=True), "lost", "cannot be reached"),
        (sse.raw(b"data: {broken\n\n"), "cut", "JSON"),
        (sse.raw(b'data: {"error": {"message": "Failed to parse tool call"}}\n\n'), "bad_call", "tool call"),
        (sse.raw((sse.event({}, "stop") + "data: [DONE]\n\n").encode()), "empty", "empty"),
        (sse.raw((sse.event({}, "content_filter") + "data: [DONE]\n\n").encode()), "refused", "filter"),
        (sse.raw((sse.event(BROKEN_CALL) + sse.event({}, "tool_calls")).encode()), "bad_call", "{a"),
    ],
)  # fmt: skip
async def test_what_goes_wrong_has_its_code_and_says_what_to_do(answer: sse.Answer, code: str, words: str) -> None:
    with sse.SseServer(answer) as server:
        made = await engine(server)
        with pytest.raises(EngineError) as caught:
            await take(made)
    assert caught.value.code == code
    assert caught.value.hint
    assert words in str(caught.value)
    assert len(server.asked) == 1  # a question is never sent twice


async def test_a_server_that_falls_silent_is_not_waited_for_for_ever() -> None:
    slow = sse.raw((sse.event({"content": "a"}) + sse.event({"content": "b"})).encode(), 60, 3.0)
    with sse.SseServer(slow) as server:
        made = await engine(server, stall_s=0.2)
        with pytest.raises(EngineError) as caught:
            await asyncio.wait_for(take(made), 30)
    assert caught.value.code == "stalled"


async def test_nobody_at_the_address_is_told_at_the_start() -> None:
    made = OpenAiEngine(HttpxPort(), OpenAiSettings(base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(EngineError) as caught:
        await made.open()
    assert caught.value.code == "load_failed"
    assert "127.0.0.1:9" in caught.value.message


async def test_a_model_that_the_server_has_not_is_told_with_those_it_has() -> None:
    with sse.SseServer(sse.said("x"), models=("a", "b")) as server:
        with pytest.raises(EngineError, match="It has: a, b"):
            await engine(server, model="c")
        assert (await engine(server)).info().model == "a"


async def test_tokens_are_counted_where_the_server_counts() -> None:
    with sse.SseServer(sse.said("x"), tokenizes=True) as server:
        assert await (await engine(server)).count_tokens("one two three") == 3


async def test_a_call_that_the_server_could_not_read_is_asked_for_once_more() -> None:
    bad = sse.raw(
        (
            sse.event({"tool_calls": [{"index": 0, "function": {"name": "search_docs", "arguments": "{que"}}]})
            + sse.event({}, "tool_calls")
        ).encode()
    )
    end = {"index": 0, "function": {"name": "say_i_dont_know", "arguments": '{"reason": "Not there."}'}}
    good = sse.raw((sse.event({"tool_calls": [end]}) + sse.event({}, "tool_calls")).encode())
    with sse.SseServer(bad, good) as server:
        world = World(await engine(server), [passage("p1", "x")], planner=False)
        assert (await world.ask("How?")).status == "abstained"
        assert "did not run" in server.asked[1]["messages"][-1]["content"]
    with sse.SseServer(bad) as server:
        world = World(await engine(server), [passage("p1", "x")], planner=False)
        end_of_turn = await world.ask("How?")
        assert len(server.asked) == 2
    assert end_of_turn.error is not None
    assert end_of_turn.error["code"] == "bad_call"


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ([b"data: a\n\ndata: b\n\n"], ["a", "b"]),
        ([b"data: a\r", b"\n\r\ndata: b\r\n\r\n"], ["a", "b"]),
        ([b"data: one\ndata: two\n\n"], ["one\ntwo"]),
        ([b": ping\n\nevent: x\nid: 1\ndata:a\n\n"], ["a"]),
        (["data: ü🙂\n\n".encode()[:8], "data: ü🙂\n\n".encode()[8:]], ["ü🙂"]),
        ([b"data: a\n\ndata: no end\n"], ["a"]),
        ([b"\n\n\n"], []),
        ([b"data: \n\n"], [""]),
    ],
)
async def test_events_are_read_as_the_standard_says(parts: list[bytes], found: list[str]) -> None:
    assert [data async for data in events(pieces(*parts))] == found


def recorded(name: str) -> bytes:
    return (sse.STREAMS / f"recorded_{name}.txt").read_bytes()


@pytest.mark.parametrize("piece", [1, 13, 100_000])
async def test_what_llama_cpp_was_recorded_to_stream_is_read(piece: int) -> None:
    answers = [sse.raw(recorded(name), piece) for name in ("text", "length", "after_result")]
    with sse.SseServer(*answers) as server:
        made = await engine(server)
        chunks = await take(made)
        # The model leaks the marks of its turns: what stands behind them is no answer.
        assert whole(chunks)[0] == "Say hello with one emoji and the German word for 'beautiful'."
        assert (chunks[-1].reason, chunks[-1].usage.prompt_tokens, chunks[-1].usage.output_tokens) == ("length", 54, 40)
        chunks = await take(made)
        assert (whole(chunks)[0], chunks[-1].reason) == ("Say hello with one emoji", "length")
        assert whole(await take(made))[0] == ""


async def test_what_llama_cpp_was_recorded_to_refuse_is_an_overflow() -> None:
    with sse.SseServer(sse.raw(recorded("overflow"), status=400)) as server:
        made = await engine(server)
        with pytest.raises(EngineError, match="3024 tokens") as caught:
            await take(made)
    assert caught.value.code == "overflow"
