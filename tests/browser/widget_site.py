"""A small documentation site with the widget on it, in front of the stand-in for the session worker."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Page

from py_agent.site.serve import SiteServer
from py_agent.testing.driver import WidgetDriver

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"

#: The asset map of `worker/protocol.js`, pointing to the stand-in; what only the real session fetches does not exist.
ASSETS = {
    "widget": "assets/widget.js",
    "session": "assets/session.js",
    "host": "assets/host.js",
    "engine": "assets/none.js",
    "storage": "assets/none.js",
    "litertWasm": "assets/none/",
    "sqliteWasm": "assets/none.wasm",
    "pyodide": {"module": "assets/none.js", "index": "assets/", "stdlib": "assets/none", "lock": "assets/none"},
    "archives": [],
}

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lantern docs</title><link rel="icon" href="data:,">{head}</head>
<body><main><h1>Install Lantern</h1><p>Run <code>lantern init</code> in an empty folder.</p>
<button id="host-button">Host button</button> <input id="host-input"></main>{body}</body></html>
"""

#: The stand-in as a harness host on the page's thread: the same script behind a port.
HOST = """
export function startHost(port) {
  const worker = new Worker(new URL("./session.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => port.postMessage(data);
  port.onmessage = ({ data }) => worker.postMessage(data);
  return { terminate: () => worker.terminate() };
}
"""


def bundle(entry: Path, out: Path, form: str) -> None:
    """Bundles one entry point as the build does, with the map of the stand-in written in."""
    esbuild = ROOT / "node_modules" / ".bin" / "esbuild"
    define = f"--define:__PY_AGENT_ASSETS__={json.dumps(ASSETS)}"
    command = [esbuild, entry, "--bundle", f"--format={form}", "--target=es2022", f"--outfile={out}", define]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def build_agent(folder: Path) -> Path:
    """The folder to serve as `/agent/`."""
    bundle(ROOT / "web" / "loader.js", folder / "py-agent.js", "iife")
    bundle(ROOT / "web" / "widget.js", folder / "assets" / "widget.js", "esm")
    (folder / "assets" / "session.js").write_text((FIXTURES / "web" / "fake_session.js").read_text("utf-8"), "utf-8")
    (folder / "assets" / "host.js").write_text(HOST, "utf-8")
    return folder


def tag(index: str = "/docs/index.json", **attributes: str) -> str:
    """The script tag; `model_url="x"` becomes `data-model-url="x"`."""
    data = {"index": index, **attributes}
    written = " ".join(f'data-{name.replace("_", "-")}="{value}"' for name, value in data.items())
    return f'<script src="/agent/py-agent.js" {written}></script>'


def page(body: str = "", head: str = "") -> str:
    """A page of the site with `body` at its end."""
    return PAGE.format(body=body, head=head)


class Site:
    """Writes pages and plays."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._written = 0
        (root / "docs").mkdir(parents=True)
        (root / "docs" / "index.json").write_text("{}", "utf-8")
        (root / "plays").mkdir()

    def write(self, name: str, html: str) -> str:
        """Writes a page; returns its address, a new one each time: the browser may keep pages written in one second."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html, "utf-8")
        self._written += 1
        return f"/{name}?{self._written}"

    def play(self, name: str, script: list[Any]) -> str:
        """Writes what the question `play NAME` is answered with; returns that question."""
        (self.root / "plays" / f"{name}.json").write_text(json.dumps(script), "utf-8")
        return f"play {name}"


def turn_end(status: str = "answered", answer: str = "", **more: Any) -> dict[str, Any]:
    """The event that ends a turn."""
    end = {"type": "turn_end", "turn": "t", "thread": "thread-1", "message": "m", "status": status, "answer": answer}
    return {**end, "sources": [], "related": [], "error": None, "dispatches": 1, "ms": 1, **more}


def delta(text: str) -> dict[str, Any]:
    """The event that brings the next piece of an answer."""
    return {"type": "answer_delta", "text": text}


class Visit:
    """Pages of the site in a browser; `problems` has every console error and uncaught exception, `warnings` the rest."""

    def __init__(self, browser: BrowserContext, server: SiteServer) -> None:
        self.browser = browser
        self.server = server
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self._pages: list[Page] = []

    def __call__(self, path: str, server: SiteServer | None = None) -> WidgetDriver:
        """Opens a page; returns the driver of its widget."""
        page = self.browser.new_page()
        self._pages.append(page)
        page.set_viewport_size({"width": 1000, "height": 800})
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        origin = (server or self.server).url
        self.server.requests.clear()
        page.goto(origin + path)
        return WidgetDriver(page)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(message.text)
        elif message.type == "warning":
            self.warnings.append(message.text)

    def requested(self, path: str) -> int:
        """How often a path has been requested since the last page was opened."""
        return sum(request.path == path for request in self.server.requests)

    def close(self) -> None:
        """Closes the pages."""
        for page in self._pages:
            page.close()
