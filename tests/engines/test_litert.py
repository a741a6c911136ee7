"""The LiteRT-LM engine over a port of the test; the real one is driven in tests/browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from py_agent.engines.base import Progress
from py_agent.engines.litert import LitertEngine, LitertSettings
from py_agent.model.errors import AgentError, EngineError
from py_agent.model.prompt import CallSpec, Chunk, GenerateOptions, Prompt, PromptMessage

SETTINGS = LitertSettings(wasm="https://a/wasm/", model="https://a/gemma.litertlm?v=1", backend="GPU", window=512)
PROMPT = Prompt(messages=(PromptMessage(role="user", content="hello"),))


class FakePort:
    """Answers each stream with the next script: messages, or an error."""

    def __init__(self, *streams: list[dict[str, Any]] | AgentError) -> None:
        self.streams = list(streams)
        self.sent: list[dict[str, Any]] = []
        self.cancelled = 0
        self.failure: AgentError | None = None

    async def request(
        self, message: dict[str, Any], body: bytes | None = None, progress: Progress | None = None
    ) -> Any:
        self.sent.append(message)
        if self.failure:
            raise self.failure
        if progress:
            progress(1, 2)

    async def stream(self, message: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        self.sent.append(message)
        script = self.streams.pop(0)
        if isinstance(script, AgentError):
            raise script
        for answer in script:
            yield answer

    async def cancel_streams(self) -> None:
        self.cancelled += 1


def chunk(text: str = "", thinking: str = "", call: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "chunk", "id": "1", "text": text, "thinking": thinking, "call": call}


def end(chunks: int, reason: str = "stop") -> dict[str, Any]:
    return {"type": "end", "id": "1", "chunks": chunks, "reason": reason, "prompt_tokens": 7, "output_tokens": 3}


async def generate(port: FakePort) -> list[Chunk]:
    engine = LitertEngine(port, SETTINGS)
    async with aclosing(engine.generate(PROMPT, GenerateOptions(max_output_tokens=64))) as chunks:
        return [item async for item in chunks]


def types(port: FakePort) -> list[str]:
    return [message["type"] for message in port.sent]


async def test_what_the_engine_has_parsed_stays_parsed() -> None:
    call = {"name": "search_docs", "arguments": {"query": "x"}}
    port = FakePort([chunk(thinking="hm"), chunk("Hel"), chunk("lo"), chunk(call=call), end(4)])
    chunks = await generate(port)
    assert [item.kind for item in chunks] == ["thinking", "text", "text", "call", "end"]
    assert chunks[3].call == CallSpec(name="search_docs", arguments={"query": "x"})
    assert (chunks[4].reason, chunks[4].usage.prompt_tokens, chunks[4].usage.output_tokens) == ("stop", 7, 3)
    assert port.sent[0]["max_output_tokens"] == 64
    assert port.sent[0]["prompt"]["messages"][0]["content"] == "hello"


async def test_a_fresh_worker_gets_the_model_first_and_then_the_question() -> None:
    port = FakePort(AgentError("No model.", code="not_loaded"), [chunk("Hello"), end(1)])
    assert [item.text for item in await generate(port)] == ["Hello", ""]
    assert types(port) == ["generate", "load", "generate"]
    assert port.sent[1] == {"type": "load", **SETTINGS.model_dump()}


async def test_a_worker_that_stays_without_a_model_is_not_asked_for_ever() -> None:
    empty = AgentError("No model.", code="not_loaded")
    port = FakePort(empty, empty, empty)
    with pytest.raises(EngineError) as caught:
        await generate(port)
    assert caught.value.code == "not_loaded"
    assert types(port) == ["generate", "load", "generate"]


@pytest.mark.parametrize("code", ["overflow", "lost", "empty", "out_of_memory"])
async def test_failures_keep_their_code_and_are_engine_errors(code: str) -> None:
    with pytest.raises(EngineError) as caught:
        await generate(FakePort(AgentError("It failed.", hint="Ask again.", code=code)))
    assert (caught.value.code, caught.value.hint) == (code, "Ask again.")


async def test_a_failed_load_is_an_engine_error() -> None:
    port = FakePort()
    port.failure = AgentError("404.", hint="Check.", code="load_failed")
    with pytest.raises(EngineError) as caught:
        await LitertEngine(port, SETTINGS).open()
    assert caught.value.code == "load_failed"


async def test_closing_an_engine_whose_worker_is_gone_is_no_error() -> None:
    port = FakePort()
    port.failure = AgentError("Gone.", code="lost")
    await LitertEngine(port, SETTINGS).close()


async def test_progress_and_cancel_go_through_the_port() -> None:
    port = FakePort()
    steps: list[tuple[int, int | None]] = []
    engine = LitertEngine(port, SETTINGS)
    await engine.open(lambda *step: steps.append(step))
    await engine.cancel()
    assert steps == [(1, 2)]
    assert port.cancelled == 1


def test_the_model_is_named_after_its_file() -> None:
    info = LitertEngine(FakePort(), SETTINGS).info()
    assert (info.name, info.model, info.window, info.dialect) == ("litert", "gemma", 512, "none")
