"""LiteRT-LM behind the ``Engine`` boundary: real models, in the engine worker that a ``Port`` leads to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from py_agent.engines.base import EngineInfo, Port, Progress
from py_agent.model.base import Record
from py_agent.model.errors import AgentError, EngineError
from py_agent.model.prompt import CallSpec, Chunk, GenerateOptions, Prompt, Usage

#: What the worker answers when it was spawned afresh and holds no model.
_NOT_LOADED: Final = "not_loaded"


class LitertSettings(Record):
    """What to load.

    Attributes:
        wasm: URL of the folder with LiteRT-LM's WebAssembly files, with a trailing slash.
        model: URL of the ``.litertlm`` file.
        backend: ``GPU_ARTISAN`` for Gemma's web files, ``GPU`` and ``CPU`` for the others.
        window: Context window in tokens, prompt and output together.
    """

    model_config = ConfigDict(extra="forbid")

    wasm: str
    model: str
    backend: Literal["CPU", "GPU", "GPU_ARTISAN"] = "GPU_ARTISAN"
    window: int = Field(default=4_096, ge=128)


class LitertEngine:
    """An ``Engine`` over the engine worker. One executor: a ``generate`` waits until the one before has ended.

    Args:
        port: To the engine worker. A worker that died is spawned again by the next message, and the model loaded again.
        settings: What to load.
    """

    def __init__(self, port: Port, settings: LitertSettings) -> None:
        self._port = port
        self._settings = settings
        self._executor = asyncio.Lock()
        self._progress: Progress | None = None

    async def open(self, progress: Progress | None = None) -> None:
        """Loads the model.

        Raises:
            EngineError: ``load_failed`` (missing or damaged model, no adapter), ``out_of_memory``, ``lost``.
        """
        self._progress = progress
        message = {"type": "load", **self._settings.model_dump()}
        try:
            await self._port.request(message, progress=progress)
        except AgentError as error:
            raise _engine_error(error) from error

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncGenerator[Chunk, None]:
        """Streams one completion in a conversation of its own. See ``Engine.generate``."""
        message = {
            "type": "generate",
            "prompt": prompt.model_dump(mode="json"),
            "max_output_tokens": options.max_output_tokens,
        }
        async with self._executor:
            for fresh in (False, True):
                if fresh:
                    await self.open(self._progress)
                try:
                    async with aclosing(self._attempt(message)) as chunks:
                        async for chunk in chunks:
                            yield chunk
                    return
                except AgentError as error:
                    if fresh or error.code != _NOT_LOADED:
                        raise _engine_error(error) from error

    async def cancel(self) -> None:
        """Ends the stream that runs, if one does; its iterator then ends with reason ``cancelled``."""
        await self._port.cancel_streams()

    async def count_tokens(self, text: str) -> int | None:
        """None: LiteRT-LM exposes no tokenizer in the browser."""
        count: int | None = await self._port.request({"type": "count_tokens", "text": text})
        return count

    def info(self) -> EngineInfo:
        """What was loaded."""
        name = self._settings.model.rsplit("/", 1)[-1].split("?", 1)[0].removesuffix(".litertlm")
        return EngineInfo(name="litert", model=name, window=self._settings.window, dialect="none", thinking=True)

    async def close(self) -> None:
        """Frees the model. Closing twice is allowed."""
        try:
            await self._port.request({"type": "unload"})
        except AgentError as error:
            if error.code != "lost":
                raise _engine_error(error) from error

    async def _attempt(self, message: dict[str, Any]) -> AsyncGenerator[Chunk, None]:
        async with aclosing(self._port.stream(message)) as answers:
            async for answer in answers:
                for chunk in _chunks(answer):
                    yield chunk


def _chunks(answer: dict[str, Any]) -> list[Chunk]:
    """The chunks of one message of the worker."""
    if answer["type"] == "end":
        usage = Usage(prompt_tokens=answer["prompt_tokens"], output_tokens=answer["output_tokens"])
        return [Chunk(kind="end", reason=answer["reason"], usage=usage)]
    chunks: list[Chunk] = []
    if answer["thinking"]:
        chunks.append(Chunk(kind="thinking", text=answer["thinking"]))
    if answer["text"]:
        chunks.append(Chunk(kind="text", text=answer["text"]))
    if answer["call"]:
        chunks.append(Chunk(kind="call", call=CallSpec.model_validate(answer["call"])))
    return chunks


def _engine_error(error: AgentError) -> EngineError:
    if isinstance(error, EngineError):
        return error
    return EngineError(error.message, hint=error.hint, code=error.code)
