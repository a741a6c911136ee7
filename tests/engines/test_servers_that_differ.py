"""Servers that call themselves compatible and differ: what they send instead, and what they do not send at all."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import aclosing
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from py_agent.engines.completions import messages_of
from py_agent.engines.http import HttpxPort
from py_agent.engines.openai import OpenAiEngine, OpenAiSettings
from py_agent.engines.sse import MAX_EVENT_CHARS, EventTooLong, events
from py_agent.model.errors import ConfigError, EngineError
from py_agent.model.prompt import CallSpec, GenerateOptions, PromptMessage
from tests import sse_server as sse
from tests.engines.conformance import PROMPT, take
from tests.engines.test_openai import engine, pieces
from tests.harness import World, passage

pytestmark = pytest.mark.cpython


def piece(name: str = "", arguments: Any = None, **more: Any) -> dict[str, Any]:
    return {**more, "function": {"name": name or None, "arguments": arguments}}


TWO = [CallSpec(name="search_docs", arguments={"query": "a"}), CallSpec(name="search_docs", arguments={"query": "b"})]


@pytest.mark.parametrize(
    "deltas",
    [
        # Ollama numbers every call 0 (its issue 15457).
        [piece("search_docs", f'{{"query": "{q}"}}', id=f"call_{q}", index=0) for q in "ab"],
        # Name and id with every piece.
        [
            piece("search_docs", '{"query"', id="1", index=0),
            piece("search_docs", ': "a"}', id="1", index=0),
            piece("search_docs", '{"query": "b"}', id="2", index=1),
        ],
        # Arguments that are parsed already; an index that is none.
        [piece("search_docs", {"query": q}, id=q, index=None) for q in "ab"],
        # The name in two pieces, the arguments behind.
        [
            piece("search_", id="1", index=0),
            piece("docs", "", index=0),
            piece("", '{"query": "a"}', index=0),
            piece("search_docs", '{"query": "b"}', id="2", index=1),
        ],
    ],
)
async def test_calls_are_told_apart_however_they_are_numbered(deltas: list[dict[str, Any]]) -> None:
    with sse.SseServer(sse.calls(*deltas)) as server:
        assert [chunk.call for chunk in await take(await engine(server)) if chunk.call] == TWO


@pytest.mark.parametrize("arguments", ["", "null", "{}", None])
async def test_a_call_without_arguments_is_a_call(arguments: str | None) -> None:
    with sse.SseServer(sse.calls(piece("list_pages", arguments, index=0))) as server:
        calls = [chunk.call for chunk in await take(await engine(server)) if chunk.call]
    assert calls == [CallSpec(name="list_pages", arguments={})]


async def test_a_server_that_does_not_stream_is_read_too() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "list_pages", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Here: ü", "reasoning_content": "Hm.", "tool_calls": [call]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"completion_tokens": 9}}
    data = json.dumps(whole, ensure_ascii=False).encode()
    with sse.SseServer(sse.raw(data, 5, kind="application/json; charset=utf-8")) as server:
        chunks = await take(await engine(server))
    assert [chunk.kind for chunk in chunks] == ["thinking", "text", "call", "end"]
    assert chunks[1].text == "Here: ü"
    assert chunks[-1].usage.output_tokens == 9


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (sse.raw(b"<!doctype html><title>My site</title>", kind="text/html"), "load_failed"),
        (sse.raw(b'{"error": {"message": "no such thing"}}', kind="application/json"), "refused"),
        (sse.raw(b"{}", kind="application/json"), "cut"),
        (sse.raw(b""), "cut"),
        (sse.raw(b'data: {"error": {"message": "Rate limit exceeded", "code": 429}}\n\n'), "refused"),
        (sse.raw(b'data: {"error": "Rate limit exceeded"}\n\n'), "refused"),
        (sse.error(413, "Request body exceeds the limit"), "refused"),
        (sse.error(400, "This model's maximum context length is 4096 tokens. However, you requested 5000"), "overflow"),
        (sse.error(400, "Requested tokens (5000) exceed context window of 2048"), "overflow"),
        (sse.error(400, "prompt is too long: 205000 tokens > 200000 maximum"), "overflow"),
        (sse.error(400, "tool name too long"), "refused"),
    ],
)
async def test_what_such_a_server_refuses_has_its_code(answer: sse.Answer, code: str) -> None:
    with sse.SseServer(answer) as server, pytest.raises(EngineError) as caught:
        await take(await engine(server))
    assert (caught.value.code, bool(caught.value.hint)) == (code, True)


async def test_a_server_that_never_answers_is_not_waited_for_for_ever() -> None:
    with sse.SseServer(sse.raw(b"", wait=2.0), sse.said("Two.")) as server:
        made = await engine(server, stall_s=0.2)
        with pytest.raises(EngineError) as caught:
            await asyncio.wait_for(take(made), 1.5)
        assert caught.value.code == "stalled"
        assert (await take(made))[-1].reason == "stop"


async def test_a_server_that_never_lists_its_models_is_told() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(2)
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        made = OpenAiEngine(HttpxPort(), OpenAiSettings(base_url=f"http://127.0.0.1:{port}/v1"), stall_s=0.2)
        with pytest.raises(EngineError, match="nothing for") as caught:
            await asyncio.wait_for(made.open(), 1.5)
    assert caught.value.code == "load_failed"


async def test_cancel_ends_a_request_that_is_still_being_read() -> None:
    with sse.SseServer(sse.raw(b"", wait=1.5), sse.said("Two.")) as server:
        made = await engine(server)
        begin = time.perf_counter()
        running = asyncio.ensure_future(take(made))
        await asyncio.sleep(0.1)
        await made.cancel()
        chunks = await running
        assert time.perf_counter() - begin < 1.0
        assert [(chunk.kind, chunk.reason) for chunk in chunks] == [("end", "cancelled")]
        assert (await take(made))[-1].reason == "stop"


async def test_stopping_closes_the_connection_so_that_the_server_stops_too() -> None:
    words = "".join(sse.event({"content": "word "}) for _ in range(400)).encode()
    with sse.SseServer(sse.raw(words, 100, 0.005)) as server:
        made = await engine(server)
        async with aclosing(cast(Any, made.generate(PROMPT, GenerateOptions(max_output_tokens=9)))) as chunks:
            await anext(chunks)
        for _ in range(200):
            if server.broken:
                break
            await asyncio.sleep(0.01)
        assert server.broken == 1


async def test_a_turn_whose_first_call_was_cut_goes_on() -> None:
    cut = sse.calls(piece("provide_answer", '{"answer": "The', index=0), finish="length")
    end = sse.calls(piece("say_i_dont_know", '{"reason": "Not there."}', index=0))
    with sse.SseServer(cut, end) as server:
        world = World(await engine(server), [passage("p1", "x")], planner=False)
        assert (await world.ask("How?")).status == "abstained"
        assert "cut off" in server.asked[1]["messages"][-1]["content"]


async def test_ollama_takes_a_name_without_its_tag() -> None:
    with sse.SseServer(sse.said("x"), models=("gemma3:latest", "other:1b")) as server:
        assert (await engine(server, model="gemma3")).info().model == "gemma3"


def said(role: Any, content: str, *calls: str, name: str = "") -> PromptMessage:
    specs = tuple(CallSpec(name=call, arguments={}) for call in calls)
    return PromptMessage(role=role, content=content, calls=specs, **({"name": name} if name else {}))


def test_a_result_goes_to_its_own_call_and_a_call_that_never_ran_is_left_out() -> None:
    messages = messages_of((said("model", "", "search_docs", "read_page"), said("tool", "a page", name="read_page")))
    assert [call["function"]["name"] for call in messages[0]["tool_calls"]] == ["read_page"]
    assert messages[1]["tool_call_id"] == messages[0]["tool_calls"][0]["id"]


def test_user_and_assistant_take_turns_and_nothing_is_empty() -> None:
    messages = messages_of(
        (
            said("system", "S"),
            said("user", "one"),
            said("model", "", "search_docs"),
            said("user", "two"),
            said("tool", "three", name="search_docs"),
            said("model", "four"),
            said("model", "five"),
        )
    )
    assert [(message["role"], message["content"]) for message in messages] == [
        ("system", "S"),
        ("user", "one\n\ntwo\n\nthree"),
        ("assistant", "four\n\nfive"),
    ]


@pytest.mark.parametrize("key", ["k3y\n", "k3y x", "schlüssel", '"k3y\x00"'])
def test_a_key_that_cannot_be_sent_is_refused_and_not_told(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAiSettings(base_url="http://a/v1", api_key=key)
    assert key.strip() not in str(caught.value) + repr(caught.value)
    assert "k3y" not in repr(OpenAiSettings(base_url="http://a/v1", api_key="k3y"))


async def test_a_password_in_the_address_is_not_told() -> None:
    made = OpenAiEngine(HttpxPort(), OpenAiSettings(base_url="http://me:s3cret@127.0.0.1:9/v1"))
    with pytest.raises(EngineError) as caught:
        await made.open()
    assert "s3cret" not in str(caught.value)
    assert "127.0.0.1:9" in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.text(max_size=3) | st.floats(allow_nan=False, width=16),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "choices delta message content tool_calls function name arguments index id finish_reason usage "
                "prompt_tokens completion_tokens error code reasoning".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
EVENT = st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"delta": JSON, "finish_reason": JSON}) | JSON, max_size=2) | JSON},
    optional={"usage": JSON, "error": JSON},
)


class Body:
    """Answers with these events, without a socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def send(self, request: Any) -> Any:
        from contextlib import asynccontextmanager

        from py_agent.engines.http import HttpResponse

        @asynccontextmanager
        async def opened() -> Any:
            yield HttpResponse(200, {"content-type": "text/event-stream"}, pieces(self._data))

        return opened()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EVENT | JSON, max_size=4))
async def test_whatever_a_server_sends_ends_in_an_end_or_a_typed_error(sent: list[Any]) -> None:
    data = "".join(f"data: {json.dumps(event)}\n\n" for event in sent).encode()
    made = OpenAiEngine(Body(data), OpenAiSettings(base_url="http://a/v1", model="m"))
    try:
        chunks = await take(made)
    except EngineError as error:
        assert error.hint
    else:
        assert [chunk.kind for chunk in chunks].count("end") == 1
        assert chunks[-1].kind == "end"


async def test_an_event_without_an_end_is_given_up_in_one_line_or_many() -> None:
    for part in (b"data: x\n", b"x" * 8):
        with pytest.raises(EventTooLong):
            async for _ in events(pieces(b"data: ", *[part * 1_000] * (MAX_EVENT_CHARS // len(part) // 500))):
                pass


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ([b"\xef\xbb\xbfdata: a\n\n"], ["a"]),
        ([b"\xef", b"\xbb\xbf", b"data: a\n\n"], ["a"]),
        ([b"data: a\r\rdata: b\r\r"], ["a", "b"]),
        ([b"data: a\r\n\r"], ["a"]),
        ([b"data: a\n\ndata: b\r"], ["a"]),
    ],
)
async def test_marks_and_line_ends_are_read_as_the_standard_says(parts: list[bytes], found: list[str]) -> None:
    assert [data async for data in events(pieces(*parts))] == found
