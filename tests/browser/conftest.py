"""Fixtures for tests that drive a real Chromium against the built bundle."""

from __future__ import annotations

import json
import os
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
