"""The page's ``fetch`` as an ``HttpPort``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import js
from pyodide.ffi import JsException, to_js

from py_agent.engines.http import HttpRequest, HttpResponse, lost


class FetchPort:
    """``fetch`` without cookies, referrer or cache: a question goes to the owner's address, and nothing else does."""

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpResponse]:
        """See ``HttpPort.send``."""
        controller = js.AbortController.new()
        options: dict[str, Any] = {
            "method": request.method,
            "headers": request.headers,
            "signal": controller.signal,
            "credentials": "omit",
            "referrerPolicy": "no-referrer",
            "cache": "no-store",
            # A redirect would take the question to a host that the dialog has not named.
            "redirect": "error",
        }
        if request.body:
            options["body"] = request.body.decode()
        try:
            try:
                answer = await js.fetch(request.url, to_js(options, dict_converter=js.Object.fromEntries))
            except JsException as error:
                raise lost(request.url, str(error)) from error
            headers = {str(pair[0]).lower(): str(pair[1]) for pair in js.Array.from_(answer.headers.entries())}
            yield HttpResponse(int(answer.status), headers, _body(request.url, answer))
        finally:
            controller.abort()  # also when somebody stops while the server is still reading the prompt


async def _body(url: str, answer: Any) -> AsyncIterator[bytes]:
    if answer.body is None:
        return
    reader = answer.body.getReader()
    while True:
        try:
            piece = await reader.read()
        except JsException as error:
            raise lost(url, str(error)) from error
        if piece.done:
            return
        yield piece.value.to_bytes()
