"""Fixtures for tests that drive a real Chromium against the built bundle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"


@pytest.fixture(scope="session")
def dist() -> Path:
    """The built bundle: ``agent/`` with the files, ``assets.json`` with the map that the loader carries."""
    folder = Path(os.environ.get("PY_AGENT_DIST", ROOT / "dist"))
    assert (folder / "assets.json").is_file(), f"{folder} is not built: run `python build.py dist` first"
    return folder


@pytest.fixture(scope="session")
def assets(dist: Path) -> dict[str, Any]:
    """The asset map, addresses relative to ``/agent/``."""
    found: dict[str, Any] = json.loads((dist / "assets.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="session")
def blank_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one empty page, with an icon so that the browser asks for none."""
    site = tmp_path_factory.mktemp("site")
    (site / "index.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>Blank</title>',
        encoding="utf-8",
    )
    return site


@pytest.fixture(scope="module")
def server(dist: Path, blank_site: Path) -> Iterator[SiteServer]:
    """Serves the blank site, the bundle and the tiny models."""
    mounts = {"/agent": dist / "agent", "/models": FIXTURES / "models"}
    with SiteServer(blank_site, mounts=mounts) as running:
        yield running


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """One Chromium with a profile on disk and the software WebGPU adapter, for all tests of a module."""
    with open_chromium(webgpu=True) as context:
        yield context


#: Pages of a small manual. Long enough that one search result is too large to be shown whole.
_FILLER = "The lantern is a lamp for the dark months. It is carried by its handle and stands on three feet. "
_PAGES = {
    "install.html": (
        "Install",
        "<h1 id='install'>Install the lantern</h1><p>Install the lantern with <code>pip install lantern</code>, then"
        f" restart the shell.</p><p>{_FILLER * 6}</p><h2 id='upgrade'>Upgrade</h2><p>Upgrade the lantern with"
        f" <code>pip install --upgrade lantern</code>.</p><p>{_FILLER * 4}</p>",
    ),
    "light.html": (
        "Light",
        f"<h1 id='light'>Turn on the light</h1><p>Turn on the light with <code>lantern on</code>.</p>"
        f"<p>{_FILLER * 6}</p>"
        f"<h2 id='dim'>Dim</h2><p>Dim the light with <code>lantern dim 40</code>.</p><p>{_FILLER * 4}</p>",
    ),
}


@pytest.fixture(scope="session")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small documentation site; `other/` is a copy, as a second site of the same origin."""
    site = tmp_path_factory.mktemp("docs")
    pages = {"index.html": ("Lantern", "<h1 id='lantern'>Lantern</h1><p>A manual.</p>"), **_PAGES}
    for folder in (site, site / "other"):
        folder.mkdir(exist_ok=True)
        for name, (title, body) in pages.items():
            (folder / name).write_text(
                f'<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">'
                f"<title>{title} - Lantern</title><main>{body}</main>",
                encoding="utf-8",
            )
    return site


@pytest.fixture(scope="session")
def index(docs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of one of the two sites, made by the command line."""
    out = tmp_path_factory.mktemp("index") / "index"
    command = [sys.executable, "-c", "from py_agent.cli import main; main()"]
    subprocess.run([*command, "index", str(docs / "other"), "--out", str(out)], check=True, cwd=ROOT)
    return out


@pytest.fixture(scope="module")
def docs_server(docs: Path, index: Path, dist: Path) -> Iterator[SiteServer]:
    """Serves the documentation, as two sites, with the bundle and the index."""
    mounts = {"/agent": dist / "agent", "/agent/index": index, "/other/agent/index": index}
    with SiteServer(docs, mounts=mounts) as running:
        yield running
