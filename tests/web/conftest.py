"""Fixtures for tests of loader and widget alone: a session without Python (``tests/fixtures/web/fake_session.js``)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from py_agent.site.index import write_index
from py_agent.site.serve import Canned, SiteServer
from py_agent.testing.chromium import open_chromium
from py_agent.testing.driver import WidgetDriver
from tests.sites import html_page, make_site, read

ROOT = Path(__file__).resolve().parents[2]
ESBUILD = ROOT / "node_modules" / ".bin" / "esbuild"

#: What the loader carries: the parts that a test of the page needs, under names without hashes.
ASSETS = {
    "widget": "widget.js",
    "session": "session.js",
    "host": "session.js",
    "engine": "engine.js",
    "storage": "storage.js",
    "litertWasm": "litert/",
    "sqliteWasm": "sqlite3.wasm",
    "pyodide": {"module": "pyodide.mjs", "index": "pyodide/", "stdlib": "stdlib.zip", "lock": "lock.json"},
    "archives": [],
}

#: A page as documentation has them, with controls that the widget must leave alone.
BODY = """<main><h1>Install Lantern</h1><p>Run <code>lantern init</code>.</p>
<button id="host-button">Host button</button> <input id="host-input"></main>"""

TAG = (
    '<script src="/agent/py-agent.js" data-index="/agent/index/manifest.json{query}" data-title="Ask Lantern"{more}>'
    "</script>"
)


def page_html(*, head: str = "", body: str = BODY, tail: str = "", attributes: str = "") -> str:
    """An HTML page; ``tail`` stands at the end of the body."""
    icon = '<link rel="icon" href="data:,">'
    return (
        f'<!doctype html><html lang="en"{attributes}><head><meta charset="utf-8">{icon}<title>Lantern</title>{head}'
        f"</head><body>{body}{tail}</body></html>"
    )


def tag(query: str = "", more: str = "") -> str:
    """The script tag; ``query`` chooses how the fake session behaves."""
    return TAG.format(query=query, more=more)


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built loader and widget, with the fake session in the place of the real one."""
    out = tmp_path_factory.mktemp("agent")
    entries = {
        "py-agent.js": ("web/loader.js", ["--format=iife", f"--define:__PY_AGENT_ASSETS__={json.dumps(ASSETS)}"]),
        "widget.js": ("web/widget.js", ["--format=esm"]),
        "markdown.js": ("web/markdown.js", ["--format=esm"]),
        "config.js": ("web/config.js", ["--format=esm"]),
        "session.js": ("tests/fixtures/web/fake_session.js", ["--format=esm"]),
    }
    for name, (entry, flags) in entries.items():
        command = [ESBUILD, entry, "--bundle", "--minify", "--target=es2022", "--log-level=warning", *flags]
        subprocess.run([*command, f"--outfile={out / name}"], cwd=ROOT, check=True, timeout=60)
    pages = {
        "guide/caching/": html_page("Caching", "Entries live for 300 seconds. Turn it off with --no-cache."),
        "guide/deploy/": html_page("<Deploy>", "Upload the folder."),
    }
    write_index(read(make_site(tmp_path_factory.mktemp("pages"), pages)).pages, out / "index")
    return out


@pytest.fixture(scope="session")
def browser() -> Iterator[BrowserContext]:
    """One Chromium for all tests."""
    with open_chromium() as context:
        yield context


class Tab:
    """A page under test: its driver, and whatever went wrong in it."""

    def __init__(self, page: Page, server: SiteServer) -> None:
        self.page = page
        self.server = server
        self.driver = WidgetDriver(page)
        self.console: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.console.append(f"{kind}: {text}")

    def shadow(self, expression: str, arg: Any = None) -> Any:
        """Evaluates ``expression`` with ``root`` (the widget's shadow root) and ``arg``."""
        code = f"(arg) => {{ const root = document.querySelector('py-agent-widget').shadowRoot; return {expression}; }}"
        return self.page.evaluate(code, arg)

    def requested(self, path: str) -> int:
        """How often ``path`` was requested."""
        return sum(request.path == path for request in self.server.requests)


Open = Callable[..., Tab]


@pytest.fixture
def tab(agent: Path, browser: BrowserContext, tmp_path: Path) -> Iterator[Open]:
    """Opens a page: ``tab(html, headers={...}, missing="widget.js")``."""
    servers: list[SiteServer] = []
    pages: list[Page] = []

    def visit(html: str, *, headers: dict[str, str] | None = None, missing: str = "") -> Tab:
        site = tmp_path / f"site-{len(servers)}"
        (site / "second").mkdir(parents=True)
        (site / "index.html").write_text(html, encoding="utf-8")
        (site / "second" / "index.html").write_text(html, encoding="utf-8")
        canned = {f"/agent/{missing}": Canned()} if missing else {}
        server = SiteServer(site, mounts={"/agent": agent}, headers=headers, canned=canned)
        server.__enter__()
        servers.append(server)
        page = browser.new_page()
        pages.append(page)
        opened = Tab(page, server)
        page.goto(server.url + "/")
        return opened

    yield visit
    for page in pages:
        page.close()
    for server in servers:
        server.__exit__()
