"""A server that speaks chat completions as it was told to: on localhost, in a thread, with the headers a page needs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

STREAMS = Path(__file__).parent / "fixtures" / "sse"

#: Writes one answer; gets the handler and the parsed request.
Answer = Callable[[BaseHTTPRequestHandler, Any], None]


def stream(name: str, piece: int = 7, pause: float = 0.0) -> Answer:
    """Streams a file of ``fixtures/sse``, ``piece`` bytes at a time."""
    return raw((STREAMS / f"{name}.txt").read_bytes(), piece, pause)


def raw(
    data: bytes,
    piece: int = 1_000,
    pause: float = 0.0,
    *,
    status: int = 200,
    cut: bool = False,
    wait: float = 0.0,
    kind: str = "text/event-stream",
) -> Answer:
    """Streams these bytes; with ``cut`` the connection breaks behind them; the first comes after ``wait`` seconds."""

    def answer(handler: BaseHTTPRequestHandler, _: Any) -> None:
        time.sleep(wait)
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data) + 1_000)) if cut else None
        handler.end_headers()
        for at in range(0, len(data), piece):
            handler.wfile.write(data[at : at + piece])
            handler.wfile.flush()
            time.sleep(pause)

    return answer


def error(status: int, message: Any, **headers: str) -> Answer:
    """Refuses."""

    def answer(handler: BaseHTTPRequestHandler, _: Any) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(json.dumps({"error": message}).encode())

    return answer


def moved(url: str) -> Answer:
    """Sends the caller elsewhere, its question included."""

    def answer(handler: BaseHTTPRequestHandler, _: Any) -> None:
        handler.send_response(307)
        handler.send_header("Location", url)
        handler.end_headers()

    return answer


def calls(*deltas: dict[str, Any], finish: str = "tool_calls") -> Answer:
    """Streams pieces of tool calls, an event each."""
    return raw(("".join(event({"tool_calls": [delta]}) for delta in deltas) + event({}, finish)).encode())


def event(delta: dict[str, Any], finish: str | None = None) -> str:
    """One event of a stream."""
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}) + "\n\n"


def said(text: str, finish: str = "stop") -> Answer:
    """Streams a text, a word at a time."""
    words = [word + " " for word in text.split(" ")]
    whole = "".join(event({"content": word}) for word in words[:-1]) + event({"content": words[-1].rstrip(" ")})
    return raw((whole + event({}, finish) + "data: [DONE]\n\n").encode())


class SseServer:
    """Gives request n the n-th answer, the last one for ever; keeps what it was asked."""

    def __init__(self, *answers: Answer, models: tuple[str, ...] = ("gemma-3-270m",), tokenizes: bool = False) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.broken = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def log_message(self, format: str, *args: Any) -> None:
                pass

            def end_headers(self) -> None:
                self.send_header("Access-Control-Allow-Origin", "*")
                self.send_header("Access-Control-Allow-Headers", "*")
                super().end_headers()

            def do_OPTIONS(self) -> None:
                self.send_response(204)
                self.end_headers()

            def do_GET(self) -> None:
                self.send_response(200 if self.path == "/v1/models" else 404)
                self.end_headers()
                self.wfile.write(json.dumps({"data": [{"id": name} for name in models]}).encode())

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/tokenize":
                    self.send_response(200 if tokenizes else 404)
                    self.end_headers()
                    self.wfile.write(json.dumps({"tokens": list(range(len(body["content"].split())))}).encode())
                    return
                outer.asked.append(body)
                outer.headers.append({key.lower(): value for key, value in self.headers.items()})
                answer = outer.answers[min(len(outer.asked), len(outer.answers)) - 1]
                try:
                    answer(self, body)
                except (BrokenPipeError, ConnectionResetError):
                    outer.broken += 1

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> SseServer:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
