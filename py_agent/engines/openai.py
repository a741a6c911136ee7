"""Any server that speaks OpenAI's chat completions: llama.cpp, Ollama, vLLM, and whatever else a site's owner runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from pydantic import ConfigDict, Field

from py_agent.engines.base import EngineInfo, Progress
from py_agent.engines.completions import Calls, request_body
from py_agent.engines.http import HttpPort, HttpRequest, HttpResponse
from py_agent.engines.sse import EventTooLong, events
from py_agent.model.base import Record
from py_agent.model.errors import EngineError
from py_agent.model.prompt import Chunk, EndReason, GenerateOptions, Prompt, Usage
from py_agent.model.safe_json import loads

#: Seconds without a byte after which a stream counts as stalled. A large prompt takes a slow server a minute to read.
STALL_S = 180.0

#: Bytes of an error's body that are looked at.
MAX_ERROR_BYTES = 4_096

#: What servers write when a prompt does not fit.
_OVERFLOW = ("context length", "context size", "context window", "exceed", "too long", "maximum context")


class OpenAiSettings(Record):
    """Where the model is.

    Attributes:
        base_url: Address of the API, up to and including ``/v1``.
        model: Its name there; empty: the first that the server lists.
        window: Context window in tokens, prompt and output together.
        api_key: Sent as a bearer token; empty: none. Never in a page: a reader could read it.
    """

    model_config = ConfigDict(extra="forbid")

    base_url: str
    model: str = ""
    window: int = Field(default=8_192, ge=128)
    api_key: str = Field(default="", repr=False)


class OpenAiEngine:
    """An ``Engine`` over HTTP. One executor: a ``generate`` waits until the one before has ended.

    Args:
        port: Carries the requests.
        settings: Where the model is.
        stall_s: Seconds without a byte after which a stream has stalled.
    """

    def __init__(self, port: HttpPort, settings: OpenAiSettings, *, stall_s: float = STALL_S) -> None:
        self._port = port
        self._settings = settings
        self._base = settings.base_url.rstrip("/")
        self._model = settings.model
        self._stall_s = stall_s
        self._executor = asyncio.Lock()
        self._stop = asyncio.Event()
        self._tokenizes = True

    async def open(self, progress: Progress | None = None) -> None:
        """Asks the server for its models.

        Raises:
            EngineError: ``load_failed``: it does not answer, does not speak this API, or has no such model.
        """
        try:
            found = await self._json(HttpRequest("GET", f"{self._base}/models", self._headers()))
        except EngineError as error:
            raise EngineError(error.message, hint=error.hint, code="load_failed") from error
        names = [item["id"] for item in _list(found, "data") if isinstance(item.get("id"), str)]
        if not self._model and names:
            self._model = names[0]
        # llama.cpp serves one model under any name, and lists it under its file's.
        if not self._model or (names and len(names) > 1 and self._model not in names):
            listed = ", ".join(names[:20]) or "none"
            raise EngineError(
                f"The model's server has no model {self._model!r}.", hint=f"It has: {listed}.", code="load_failed"
            )

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncGenerator[Chunk, None]:
        """Streams one completion. See ``Engine.generate``."""
        body = json.dumps(request_body(prompt, options, self._model), ensure_ascii=False).encode()
        request = HttpRequest("POST", f"{self._base}/chat/completions", self._headers(), body)
        async with self._executor:
            self._stop.clear()
            async with self._port.send(request) as response:
                if response.status != 200:
                    raise await _refusal(response)
                async with aclosing(self._chunks(response)) as chunks:
                    async for chunk in chunks:
                        yield chunk

    async def cancel(self) -> None:
        """Ends the stream that runs, if one does; its iterator then ends with reason ``cancelled``."""
        self._stop.set()

    async def count_tokens(self, text: str) -> int | None:
        """What llama.cpp's ``/tokenize`` counts; None where the server has no such address."""
        if not self._tokenizes:
            return None
        url = f"{self._base.removesuffix('/v1')}/tokenize"
        try:
            found = await self._json(HttpRequest("POST", url, self._headers(), json.dumps({"content": text}).encode()))
            return len(_list(found, "tokens"))
        except EngineError:
            self._tokenizes = False
            return None

    def info(self) -> EngineInfo:
        """What was found."""
        return EngineInfo(
            name="openai", model=self._model or None, window=self._settings.window, dialect="none", thinking=True
        )

    async def close(self) -> None:
        """Nothing to free."""

    def _headers(self) -> dict[str, str]:
        key = self._settings.api_key
        return {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            **({"authorization": f"Bearer {key}"} if key else {}),
        }

    async def _json(self, request: HttpRequest) -> Any:
        async with self._port.send(request) as response:
            if response.status != 200:
                raise await _refusal(response)
            data = b"".join([piece async for piece in response.body])
        try:
            return loads(data)
        except ValueError as error:
            raise EngineError(
                f"{request.url} answered, but not with JSON.",
                hint="The address must be that of an OpenAI-compatible API, ending in /v1.",
                code="load_failed",
            ) from error

    async def _chunks(self, response: HttpResponse) -> AsyncGenerator[Chunk, None]:
        calls = Calls()
        reason: str | None = None
        usage = Usage()
        said = False
        async with aclosing(cast(Any, events(self._watched(response.body)))) as stream:
            async for data in _readable(stream):
                if data == "[DONE]":
                    break
                event = _event(data)
                usage = _usage(event) or usage
                choice = (_list(event, "choices") or [{}])[0]
                delta = choice.get("delta") or {}
                for kind, text in _texts(delta):
                    said = True
                    yield Chunk(kind=kind, text=text)
                calls.add(_list(delta, "tool_calls"))
                reason = choice.get("finish_reason") or reason
                # Behind the reason only the usage comes, and not every server sends one.
                if reason and usage.output_tokens is not None:
                    break
        if self._stop.is_set():
            yield Chunk(kind="end", reason="cancelled", usage=usage)
            return
        if reason is None:
            raise EngineError("The model's server stopped in the middle of an answer.", hint="Ask again.", code="cut")
        if reason == "content_filter":
            raise EngineError(
                "The model's server refused to answer this (content filter).",
                hint="Ask in other words.",
                code="refused",
            )
        ended: EndReason = "length" if reason == "length" else "stop"
        done = calls.finished(cut=ended == "length")
        for call in done:
            yield Chunk(kind="call", call=call)
        if not said and not done and not calls:
            raise EngineError("The model's server sent an empty answer.", hint="Ask again.", code="empty")
        yield Chunk(kind="end", reason=ended, usage=usage)

    async def _watched(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """``body`` until it ends, is stopped, or stalls.

        Raises:
            EngineError: ``stalled``.
        """
        stop = asyncio.ensure_future(self._stop.wait())
        iterator = aiter(body)
        try:
            while True:
                piece = asyncio.ensure_future(anext(iterator, None))
                try:
                    done, _ = await asyncio.wait(
                        {piece, stop}, timeout=self._stall_s, return_when=asyncio.FIRST_COMPLETED
                    )
                finally:
                    if not piece.done():
                        piece.cancel()
                        await asyncio.wait({piece})
                if stop in done:
                    return
                if not done:
                    raise EngineError(
                        f"The model's server has sent nothing for {self._stall_s:.0f} s.",
                        hint="Look whether it is overloaded, then ask again.",
                        code="stalled",
                    )
                found = piece.result()
                if found is None:
                    return
                yield found
        finally:
            stop.cancel()


async def _readable(stream: AsyncIterator[str]) -> AsyncIterator[str]:
    try:
        async for data in stream:
            yield data
    except EventTooLong as error:
        raise EngineError(
            "The model's server sends something without an end.", hint="Check its address.", code="cut"
        ) from error


def _event(data: str) -> dict[str, Any]:
    """One event. Servers put errors into the stream, too.

    Raises:
        EngineError: It is one, or is no JSON object.
    """
    try:
        event = loads(data)
    except ValueError as error:
        raise EngineError(
            "The model's server sent something that is no JSON.", hint="Ask again.", code="cut"
        ) from error
    if not isinstance(event, dict):
        raise EngineError("The model's server sent something that is no event.", hint="Ask again.", code="cut")
    if event.get("error"):
        raise _typed(500, event["error"])
    return event


def _usage(event: dict[str, Any]) -> Usage | None:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None
    return Usage(prompt_tokens=usage.get("prompt_tokens"), output_tokens=usage.get("completion_tokens"))


def _texts(delta: dict[str, Any]) -> list[tuple[Any, str]]:
    found = []
    for key in ("reasoning_content", "reasoning"):
        if isinstance(delta.get(key), str) and delta[key]:
            found.append(("thinking", delta[key]))
            break
    if isinstance(delta.get("content"), str) and delta["content"]:
        found.append(("text", delta["content"]))
    return found


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return [item for item in found if isinstance(item, dict | int)] if isinstance(found, list) else []


async def _refusal(response: HttpResponse) -> EngineError:
    """The error that a status other than 200 means."""
    data = b""
    async for piece in response.body:
        data += piece
        if len(data) >= MAX_ERROR_BYTES:
            break
    try:
        parsed = loads(data)
        detail = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    except ValueError:
        detail = data[:200].decode("utf-8", "replace")
    return _typed(response.status, detail, response.headers.get("retry-after", ""))


def _typed(status: int, detail: Any, retry_after: str = "") -> EngineError:
    text = str(detail.get("message", detail) if isinstance(detail, dict) else detail).strip()[:300]
    code = str(detail.get("type") or detail.get("code") or "") if isinstance(detail, dict) else ""
    said = f"The model's server answered {status}: {text or 'nothing more'}."
    lower = f"{text} {code}".lower()
    if status in (400, 413, 422, 500) and any(word in lower for word in _OVERFLOW):
        return EngineError(said, hint="Start a new thread, or set the window to the server's.", code="overflow")
    if "out of memory" in lower:
        return EngineError(said, hint="Free memory on the server, or use a smaller model.", code="out_of_memory")
    if status in (401, 403):
        return EngineError(said, hint="The server wants a key, or another one.", code="refused")
    if status == 404:
        return EngineError(said, hint="Check the address (it ends in /v1) and the model's name.", code="load_failed")
    if status in (429, 503):
        wait = f" in {retry_after} s" if retry_after.isdigit() else ""
        return EngineError(said, hint=f"The server is busy: ask again{wait}.", code="refused")
    if "failed to parse" in lower or "tool call" in lower:
        return EngineError(said, hint="The model wrote a call that the server could not read.", code="bad_call")
    return EngineError(said, hint="Look into the server's log.", code="refused")
