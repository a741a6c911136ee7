"""A static server for localhost: the demo, the tests and ``py-agent serve``. Not for the open network."""

from __future__ import annotations

import dataclasses
import http
import io
import os
import threading
import urllib.parse
from collections.abc import Mapping
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

from py_agent.model.errors import AgentError

#: A content-hashed file never changes under its name: browsers may keep it for ever (the maximum that RFC 9111 names).
IMMUTABLE = "public, max-age=31536000, immutable"

#: Seconds between two looks at whether the server should stop: how long a test waits at its end.
POLL_S = 0.05

_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".litertlm": "application/octet-stream",
}


@dataclasses.dataclass(frozen=True)
class Canned:
    """A fixed answer for one path: how a test makes a host misbehave. ``location``: where a redirect leads."""

    status: int = 404
    body: bytes = b""
    content_type: str = "text/plain"
    location: str = ""


@dataclasses.dataclass(frozen=True)
class Request:
    """One request that was answered: ``path`` without its query."""

    method: str
    path: str
    status: int


class SiteServer:
    """Serves folders on 127.0.0.1 in a thread of its own.

    Args:
        root: The folder behind ``/``.
        mounts: Further folders by URL prefix (``{"/agent": dist / "agent"}``); the longest prefix wins.
        port: TCP port; 0 takes a free one.
        headers: Sent with every answer (a Content-Security-Policy, say).
        inject: HTML put before ``</body>`` (else at the end) of every HTML page under ``root``, on its way out: files
            are never changed.
        canned: Fixed answers by path.
        immutable: URL prefix whose files browsers may cache for ever.

    Raises:
        AgentError: ``port_in_use``, or ``missing_folder``.
    """

    def __init__(
        self,
        root: Path,
        *,
        mounts: Mapping[str, Path] | None = None,
        port: int = 0,
        headers: Mapping[str, str] | None = None,
        inject: str = "",
        canned: Mapping[str, Canned] | None = None,
        immutable: str = "/agent/assets/",
    ) -> None:
        self.root = Path(root)
        self.mounts = dict(sorted((mounts or {}).items(), key=lambda item: -len(item[0])))
        self.headers = dict(headers or {})
        self.inject = inject
        self.canned = dict(canned or {})
        self.immutable = immutable
        self.requests: list[Request] = []
        for folder in (self.root, *self.mounts.values()):
            if not folder.is_dir():
                raise AgentError(
                    f"There is no folder {folder} to serve.", hint="Build it first.", code="missing_folder"
                )
        try:
            self._server = _Server(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise AgentError(
                f"Port {port} is in use or may not be opened ({error.strerror}).",
                hint="Choose another one with --port, or stop the program that holds it.",
                code="port_in_use",
            ) from error
        self._server.site = self
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The server's origin, without a trailing slash."""
        return f"http://localhost:{self._server.server_address[1]}"

    def __enter__(self) -> SiteServer:
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_S,), name="site-server", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve_forever(self) -> None:
        """Serves in the calling thread until it is interrupted."""
        self._server.serve_forever()

    def folder_of(self, path: str) -> tuple[Path, str]:
        """The folder that answers for ``path`` and the rest of the path below it."""
        for prefix, folder in self.mounts.items():
            if path == prefix or path.startswith(prefix.rstrip("/") + "/"):
                return folder, path[len(prefix.rstrip("/")) :] or "/"
        return self.root, path


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A browser opens many connections at once; the default backlog of 5 refuses some under load.
    request_queue_size = 64
    site: SiteServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader who closes the tab cuts the connection: nothing to report."""


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes; the second would wait up to 40 ms for the acknowledgement of the first.
    disable_nagle_algorithm = True
    server: _Server

    def guess_type(self, path: str | os.PathLike[str]) -> str:
        """By the table above first: the system's own may not know modules and wasm."""
        return _TYPES.get(Path(path).suffix.lower()) or super().guess_type(path)

    def translate_path(self, path: str) -> str:
        path = urllib.parse.urlsplit(path).path
        folder, rest = self.server.site.folder_of(urllib.parse.unquote(path))
        self.directory = str(folder)
        return super().translate_path(urllib.parse.quote(rest))

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        site = self.server.site
        if path in site.canned:
            answer = site.canned[path]
            return self._send(answer.body, answer.content_type, answer.status, answer.location)
        if site.inject and site.folder_of(path)[0] == site.root:
            file = Path(self.translate_path(self.path))
            if file.is_dir() and path.endswith("/"):
                file /= "index.html"
            if file.suffix.lower() in {".html", ".htm"} and file.is_file():
                return self._send(inject_html(file.read_bytes(), site.inject), "text/html", 200)
        return super().send_head()

    def _send(self, body: bytes, content_type: str, status: int, location: str = "") -> io.BytesIO:
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)

    def end_headers(self) -> None:
        site = self.server.site
        for name, value in site.headers.items():
            self.send_header(name, value)
        hashed = bool(site.immutable) and self.path.startswith(site.immutable)
        self.send_header("Cache-Control", IMMUTABLE if hashed else "no-cache")
        super().end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        status = int(code.value if isinstance(code, http.HTTPStatus) else code)
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        self.server.site.requests.append(Request(self.command, path, status))

    def log_message(self, format: str, *args: object) -> None:
        """Silent: ``SiteServer.requests`` has the record."""


def inject_html(page: bytes, snippet: str) -> bytes:
    """``page`` with ``snippet`` before its last ``</body>``, or at its end."""
    at = page.lower().rfind(b"</body>")
    at = len(page) if at < 0 else at
    return page[:at] + snippet.encode() + page[at:]
