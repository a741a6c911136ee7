"""Any server that speaks OpenAI's chat completions: llama.cpp, Ollama, vLLM, and whatever else a site's owner runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import AsyncExitStack, aclosing
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, Field

from py_agent.engines.base import EngineInfo, Progress
from py_agent.engines.completions import Calls, encoded, request_body
from py_agent.engines.http import HttpPort, HttpRequest, HttpResponse, without_secrets
from py_agent.engines.sse import MAX_EVENT_CHARS, EventTooLong, events
from py_agent.model.base import Record
from py_agent.model.errors import ConfigError, EngineError
from py_agent.model.prompt import Chunk, EndReason, GenerateOptions, Prompt, Usage
from py_agent.model.safe_json import loads

#: Seconds without a byte after which a stream counts as stalled. A large prompt takes a slow server a minute to read.
STALL_S = 180.0

#: Bytes of one answer: each token comes as an event of 200 to 400 bytes, so this is more than 100,000 tokens.
MAX_STREAM_BYTES = 50_000_000

#: Bytes between two turns of the event loop: a server nearby may be faster than we read, and stop must work.
YIELD_BYTES = 65_536

#: Bytes of an error's body that are looked at.
MAX_ERROR_BYTES = 4_096

#: Seconds for a list of models or a count: such answers take milliseconds, a server that is woken first some seconds.
ANSWER_S = 30.0

#: Bytes of such an answer: the longest public list of models has half of it.
MAX_ANSWER_BYTES = 2_000_000

# What servers write when a prompt does not fit. "Exceeded" alone is what they write about rates and quotas, too.
_OVERFLOW = re.compile(
    r"context.?(length|size|window)|maximum context|(prompt|input)\b.{0,40}\btoo (long|large)|too many tokens"
    r"|tokens?\b.{0,60}\bexceeds?\b|exceeds?\b.{0,60}\b(context|model's limit)"
)

_Answer = TypeVar("_Answer")


class _Stopped(Exception):
    """``cancel`` was called."""


class OpenAiSettings(Record):
    """Where the model is.

    Attributes:
        base_url: Address of the API, up to and including ``/v1``.
        model: Its name there; empty: the first that the server lists.
        window: Context window in tokens, prompt and output together.
        api_key: Sent as a bearer token; empty: none. Never in a page: a reader could read it.

    Raises:
        ConfigError: The key has characters that no header may have. The key itself is not told.
    """

    model_config = ConfigDict(extra="forbid")

    base_url: str
    model: str = ""
    window: int = Field(default=8_192, ge=128)
    api_key: str = Field(default="", repr=False)

    def model_post_init(self, context: Any, /) -> None:
        """Checks the key here: further down it would be told in an error."""
        if self.api_key and not re.fullmatch(r"[!-~]+", self.api_key):
            raise ConfigError(
                "The key for the model's server has spaces or characters that a key cannot have.",
                hint="Set it to the key alone, without quotes and line ends.",
                code="bad_key",
            )


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
        self._stopped = False
        self._limit: asyncio.Timeout | None = None
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
        names = [item["id"] for item in dicts(found.get("data")) if isinstance(item.get("id"), str)]
        if not self._model and names:
            self._model = names[0]
        # llama.cpp serves one model under any name, and lists it under its file's.
        known = {*names, *(name.removesuffix(":latest") for name in names)}  # Ollama takes both
        if not self._model or (len(names) > 1 and self._model not in known):
            listed = ", ".join(names[:20]) or "none"
            raise EngineError(
                f"The model's server has no model {self._model!r}.", hint=f"It has: {listed}.", code="load_failed"
            )

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncGenerator[Chunk, None]:
        """Streams one completion. See ``Engine.generate``."""
        body = encoded(request_body(prompt, options, self._model))
        request = HttpRequest("POST", f"{self._base}/chat/completions", self._headers(), body)
        async with self._executor, AsyncExitStack() as stack:
            self._stopped = False
            try:
                response = await self._wait(stack.enter_async_context(self._port.send(request)))
                if response.status != 200:
                    raise await self._refusal(response)
            except _Stopped:
                yield Chunk(kind="end", reason="cancelled")
                return
            async with aclosing(self._chunks(response)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def cancel(self) -> None:
        """Ends the stream that runs, if one does; its iterator then ends with reason ``cancelled``."""
        self._stopped = True
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def count_tokens(self, text: str) -> int | None:
        """What llama.cpp's ``/tokenize`` counts; None where the server has no such address."""
        if not self._tokenizes:
            return None
        url = f"{self._base.removesuffix('/v1')}/tokenize"
        try:
            found = await self._json(HttpRequest("POST", url, self._headers(), encoded({"content": text})))
            return len(found["tokens"]) if isinstance(found.get("tokens"), list) else None
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

    async def _json(self, request: HttpRequest) -> dict[str, Any]:
        """The object that the server answers.

        Raises:
            EngineError: It answers another status, something else, too much, or not in time.
        """
        data = b""
        try:
            async with asyncio.timeout(min(ANSWER_S, self._stall_s)), self._port.send(request) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                async for piece in response.body:
                    data += piece
                    if len(data) > MAX_ANSWER_BYTES:
                        break
        except TimeoutError:
            raise self._silent(min(ANSWER_S, self._stall_s)) from None
        try:
            found = loads(data)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise EngineError(
                f"{without_secrets(request.url)} answered, but not with a JSON object.",
                hint="The address must be that of an OpenAI-compatible API, ending in /v1.",
                code="load_failed",
            )
        return found

    async def _wait(self, coming: Awaitable[_Answer]) -> _Answer:
        """What is coming.

        Raises:
            _Stopped: ``cancel`` was called.
            EngineError: ``stalled``: nothing came.
        """
        try:
            async with asyncio.timeout(self._stall_s) as self._limit:
                return await coming
        except TimeoutError:
            raise (_Stopped() if self._stopped else self._silent(self._stall_s)) from None
        finally:
            self._limit = None

    def _silent(self, seconds: float) -> EngineError:
        return EngineError(
            f"The model's server has sent nothing for {seconds:.0f} s.",
            hint="Look whether it is overloaded, then ask again.",
            code="stalled",
        )

    async def _refusal(self, response: HttpResponse) -> EngineError:
        """The error that a status other than 200 means."""
        data = b""
        async for piece in self._watched(response.body):
            data += piece
            if len(data) >= MAX_ERROR_BYTES:
                break
        try:
            parsed = loads(data)
            detail = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
        except ValueError:
            detail = data[:200].decode("utf-8", "replace")
        return _typed(response.status, detail, response.headers.get("retry-after", ""))

    async def _chunks(self, response: HttpResponse) -> AsyncGenerator[Chunk, None]:
        calls = Calls()
        reason: str | None = None
        usage = Usage()
        said = False
        async with aclosing(self._events(response)) as stream:
            async for data in stream:
                if data == "[DONE]":
                    break
                event = _event(data)
                usage = _usage(event) or usage
                choice = next(iter(dicts(event.get("choices"))), {})
                # A server that does not stream sends the whole message.
                delta = choice.get("delta") or choice.get("message")
                if isinstance(delta, dict):
                    for kind, text in _texts(delta):
                        said = True
                        yield Chunk(kind=kind, text=text)
                    calls.add(dicts(delta.get("tool_calls")))
                reason = choice.get("finish_reason") or reason
                # Behind the reason only the usage comes, and not every server sends one.
                if reason and usage.output_tokens is not None:
                    break
        if self._stopped:
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

    async def _events(self, response: HttpResponse) -> AsyncGenerator[str, None]:
        """The events' data until the stream ends or is stopped.

        Raises:
            EngineError: ``stalled``, ``lost``; ``cut``: it sends no events, or one without an end.
        """
        body = self._watched(response.body)
        kind = response.headers.get("content-type", "").lower()
        if "html" in kind:
            raise EngineError(
                "The model's server answered with a page, not with a stream.",
                hint="Check the address (it ends in /v1).",
                code="load_failed",
            )
        try:
            if "application/json" in kind:
                whole = b""
                async for piece in body:
                    whole += piece
                    if len(whole) > MAX_EVENT_CHARS:
                        raise EventTooLong
                if whole:
                    yield whole.decode("utf-8", "replace")
                return
            async with aclosing(cast(Any, events(body))) as stream:
                async for data in stream:
                    yield data
        except EventTooLong as error:
            raise EngineError(
                "The model's server sends something without an end.", hint="Check its address.", code="cut"
            ) from error

    async def _watched(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """``body`` until it ends, is stopped, or stalls.

        Raises:
            EngineError: ``stalled``; ``cut``: it has no end.
        """
        iterator = aiter(body)
        came = rested = 0
        while not self._stopped:
            try:
                piece = await self._wait(anext(iterator, None))
            except _Stopped:
                return
            if piece is None:
                return
            came += len(piece)
            if came > MAX_STREAM_BYTES:
                raise EngineError(
                    "The model's server sends an answer without an end.", hint="Check its address.", code="cut"
                )
            if came - rested >= YIELD_BYTES:
                rested = came
                await asyncio.sleep(0)
            yield piece


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects in a list from a server, whatever else it has sent instead."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


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
        inner = event["error"]
        status = inner.get("code") if isinstance(inner, dict) else None
        raise _typed(status if isinstance(status, int) and 400 <= status < 600 else 500, inner)
    return event


def _usage(event: dict[str, Any]) -> Usage | None:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, output = (usage.get(key) for key in ("prompt_tokens", "completion_tokens"))
    return Usage(
        prompt_tokens=prompt if _is_count(prompt) else None,
        output_tokens=output if _is_count(output) else None,
    )


def _is_count(value: Any) -> bool:
    """Whether a server counted something: a negative number would give a turn tokens back, a huge one end it."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_STREAM_BYTES


def _texts(delta: dict[str, Any]) -> list[tuple[Any, str]]:
    found = []
    for key in ("reasoning_content", "reasoning"):
        if isinstance(delta.get(key), str) and delta[key]:
            found.append(("thinking", delta[key]))
            break
    if isinstance(delta.get("content"), str) and delta["content"]:
        found.append(("text", delta["content"]))
    return found


def _typed(status: int, detail: Any, retry_after: str = "") -> EngineError:
    text = str(detail.get("message", detail) if isinstance(detail, dict) else detail).strip()[:300]
    code = str(detail.get("type") or detail.get("code") or "") if isinstance(detail, dict) else ""
    said = f"The model's server answered {status}: {text or 'nothing more'}."
    lower = f"{text} {code}".lower()
    if status in (400, 413, 422, 500) and _OVERFLOW.search(lower):
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
