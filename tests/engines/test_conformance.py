"""Every engine behind the boundary passes one suite; the real LiteRT-LM does so in tests/browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from py_agent.engines.base import Engine, Progress
from py_agent.engines.extractive import ExtractiveEngine
from py_agent.engines.litert import LitertEngine, LitertSettings
from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.errors import AgentError, EngineError
from tests.engines import conformance
from tests.engines.conformance import Maker


class Scripted:
    scripted = True

    async def __call__(self, *outputs: str | EngineError, delay: float = 0.0) -> Engine:
        engine = ScriptedEngine(outputs, delay=delay)
        await engine.open()
        return engine


class Extractive:
    scripted = False

    async def __call__(self, *outputs: str | EngineError, delay: float = 0.0) -> Engine:
        engine = ExtractiveEngine()
        await engine.open()
        return engine


class TalkingPort:
    """An engine worker that says what it was told to."""

    def __init__(self, outputs: tuple[str | EngineError, ...], delay: float) -> None:
        self._outputs = list(outputs)
        self._delay = delay
        self._stopped = False

    async def request(
        self, message: dict[str, Any], body: bytes | None = None, progress: Progress | None = None
    ) -> Any:
        return None

    async def stream(self, message: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        output = self._outputs.pop(0)
        self._stopped = False
        if isinstance(output, EngineError):
            raise AgentError(output.message, code=output.code)
        sent = 0
        for word in output.split(" "):
            await asyncio.sleep(self._delay)
            if self._stopped:
                break
            yield {"type": "chunk", "text": word if not sent else f" {word}", "thinking": "", "call": None}
            sent += 1
        reason = "cancelled" if self._stopped else "stop"
        yield {"type": "end", "chunks": sent, "reason": reason, "prompt_tokens": 7, "output_tokens": sent}

    async def cancel_streams(self) -> None:
        self._stopped = True


class Litert:
    scripted = True

    async def __call__(self, *outputs: str | EngineError, delay: float = 0.0) -> Engine:
        settings = LitertSettings(wasm="https://a/", model="https://a/tiny.litertlm", backend="CPU", window=512)
        engine = LitertEngine(TalkingPort(outputs, delay), settings)
        await engine.open()
        return engine


@pytest.fixture
def makers() -> Iterator[dict[str, Maker]]:
    yield {"scripted": Scripted(), "extractive": Extractive(), "litert": Litert()}


@pytest.mark.parametrize("behaviour", conformance.BEHAVIOURS, ids=lambda behaviour: behaviour.__name__)
@pytest.mark.parametrize("name", ["scripted", "extractive", "litert"])
async def test_an_engine_conforms(
    makers: dict[str, Maker], name: str, behaviour: Callable[[Maker], Awaitable[None]]
) -> None:
    await behaviour(makers[name])
