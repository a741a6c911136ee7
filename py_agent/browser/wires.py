"""The JavaScript end of a port: ``worker/line.js``. Only strings and byte arrays cross; one proxy lives per line."""

from __future__ import annotations

import json
import traceback
from typing import Any

from js import console
from pyodide.ffi import create_proxy, to_js

from py_agent.browser.port import Receive
from py_agent.browser.protocol import wire_text


class LineWire:
    """A ``Wire`` over a JavaScript ``Line``."""

    def __init__(self, line: Any) -> None:
        self._line = line
        self._proxy: Any = None

    def listen(self, receive: Receive) -> None:
        def sink(text: str, body: Any = None) -> None:
            # An exception that left this function would be an "Uncaught PythonError" and its call would hang.
            try:
                receive(json.loads(text), body.to_bytes() if body is not None else None)
            except Exception:
                console.error("py-agent: a worker's message could not be handled: " + traceback.format_exc())

        self._proxy = create_proxy(sink)
        self._line.listen(self._proxy)

    def post(self, message: dict[str, Any], body: bytes | None = None) -> None:
        text = wire_text(message)
        if body is None:
            self._line.post(text)
        else:
            self._line.post(text, to_js(body))

    def terminate(self) -> None:
        self._line.terminate()
