"""The HTTP boundary: one method, so that a page's ``fetch``, httpx and a test's script can stand behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from py_agent.model.errors import ConfigError, EngineError


@dataclass(frozen=True)
class HttpRequest:
    """One request. ``body`` is sent as it is."""

    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass
class HttpResponse:
    """The answer to one request; ``body`` brings its bytes as they come, in pieces of any size.

    Reading the body raises ``EngineError`` with code ``lost`` when the connection breaks.
    """

    status: int
    headers: dict[str, str]
    body: AsyncIterator[bytes]


class HttpPort(Protocol):
    """What carries requests."""

    def send(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpResponse]:
        """Sends a request; leaving the context closes the connection, whatever has come by then.

        Raises:
            EngineError: ``lost``: nobody answers at that address, or the connection broke.
        """
        ...


def without_secrets(url: str) -> str:
    """``url`` without the name and the password that may stand in front of its host, and without its query."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def lost(url: str, why: str) -> EngineError:
    """The error of a connection that broke or was never made."""
    from urllib.parse import urlsplit

    host = urlsplit(url).netloc.rpartition("@")[2]
    return EngineError(
        f"The model's server at {host} cannot be reached: {why.replace(url, without_secrets(url))}.",
        hint="Check that it runs and that the address is right. In a page: that it allows this page (CORS), and this "
        "page it (connect-src, and https where the page has it).",
        code="lost",
    )


class HttpxPort:
    """httpx, outside the page.

    Raises:
        ConfigError: httpx is not installed.
    """

    def __init__(self) -> None:
        try:
            import httpx
        except ImportError as error:
            raise ConfigError(
                "An engine behind an HTTP endpoint needs httpx, which is not installed.",
                hint="Install it: pip install 'py-agent[remote]'.",
                code="no_httpx",
            ) from error
        self._httpx = httpx
        # No limit on reading: a model may think for minutes. The engine watches for a stream that has stalled.
        self._timeout = httpx.Timeout(CONNECT_S, read=None)

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpResponse]:
        """See ``HttpPort.send``."""
        httpx = self._httpx
        try:
            async with (
                httpx.AsyncClient(timeout=self._timeout) as client,
                client.stream(
                    request.method, request.url, headers=request.headers, content=request.body or None
                ) as response,
            ):
                headers = {key.lower(): value for key, value in response.headers.items()}
                yield HttpResponse(response.status_code, headers, self._body(request.url, response))
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise lost(request.url, str(error) or type(error).__name__) from error

    async def _body(self, url: str, response: object) -> AsyncIterator[bytes]:
        try:
            async for piece in response.aiter_bytes():  # type: ignore[attr-defined]
                yield piece
        except self._httpx.RequestError as error:
            raise lost(url, str(error) or type(error).__name__) from error


#: Seconds for a connection to be made: a server on the same machine or network answers in milliseconds.
CONNECT_S = 10.0
