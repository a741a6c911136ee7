"""The harness's suite inside Pyodide in Chromium: the same tests as on CPython, over the bundle that readers get."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.bundle.cache import Cache
from py_agent.site.bundle.layout import Layout
from py_agent.site.bundle.wheels import wheels_for_tests
from py_agent.site.door.check import HARNESS_ROOMS
from py_agent.site.serve import SiteServer

ROOT = Path(__file__).resolve().parents[2]

#: What CPython has and the page has not: these tests say so with a mark, and the same behaviour is tested in the page
#: over the page's own parts.
MARKS = "not cpython and not full"

#: Milliseconds for the whole suite in the page. It takes about four times as long as on CPython.
LIMIT_MS = 600_000

#: The part of pyproject.toml's pytest settings that holds in the page.
SETTINGS = """[pytest]
pythonpath = .
markers =
    cpython: needs what only CPython has
    full: a long repeat
"""

_RUN = """
async ([module, index, archives, wheels, tests, paths, marks]) => {
  const {loadPyodide} = await import(module);
  const lines = [];
  const say = (line) => lines.push(line);
  let extractDir = "";
  const fsInit = (_, info) => (extractDir = info.sitePackages);
  const pyodide = await loadPyodide({indexURL: index, fsInit, stdout: say, stderr: say});
  const bytes = async (url) => {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    return answer.arrayBuffer();
  };
  for (const url of [...archives, ...wheels]) pyodide.unpackArchive(await bytes(url), "zip", {extractDir});
  pyodide.unpackArchive(await bytes(tests), "zip", {extractDir: "/suite"});
  try {
    const result = await pyodide.runPythonAsync(`
import importlib, json, os, sys
importlib.invalidate_caches()
os.chdir("/suite")
sys.path.insert(0, "/suite")
from tests.in_page.runner import run
json.dumps(run(${JSON.stringify(paths)}, ${JSON.stringify(marks)}))
`);
    return {...JSON.parse(result), lines};
  } catch (thrown) {
    return {code: -1, outcomes: {}, lines: [...lines, String(thrown)]};
  }
}
"""


class Suite:
    """A page that can run tests inside Pyodide."""

    def __init__(self, browser: BrowserContext, url: str, folder: Path, archives: list[str]) -> None:
        self._browser = browser
        self._url = url
        self._folder = folder
        self._archives = archives
        self._wheels = sorted(f"/suite/{path.name}" for path in folder.glob("*.whl"))

    def run(self, tests: bytes, paths: list[str]) -> dict[str, Any]:
        """pytest's exit code, the outcomes by id, and what it printed; ``tests`` is a zip, ``paths`` lie in it."""
        (self._folder / "tests.zip").write_bytes(tests)
        page = self._browser.new_page()
        page.set_default_timeout(LIMIT_MS)
        page.goto(self._url)
        where = ["/pyodide/pyodide.mjs", "/pyodide/", self._archives, self._wheels, "/suite/tests.zip"]
        found: dict[str, Any] = page.evaluate(_RUN, [*where, paths, MARKS])
        page.close()
        return found


@pytest.fixture(scope="module")
def suite(
    dist: Path,
    blank_site: Path,
    browser: BrowserContext,
    assets: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Suite]:
    """Serves Pyodide whole (pytest needs more of the standard library than readers get), wheels and tests."""
    folder = tmp_path_factory.mktemp("suite")
    for wheel in wheels_for_tests(Cache(Layout.of(ROOT).cache), ROOT):
        shutil.copy(wheel, folder)
    mounts = {"/agent": dist / "agent", "/pyodide": ROOT / "node_modules" / "pyodide", "/suite": folder}
    with SiteServer(blank_site, mounts=mounts) as running:
        yield Suite(browser, running.url, folder, [f"/agent/{archive['url']}" for archive in assets["archives"]])


def test_the_harness_suite_passes_in_the_page(suite: Suite) -> None:
    paths = [f"tests/{room}" for room in HARNESS_ROOMS]
    found = suite.run(_tests(), paths)
    output = "\n".join(found["lines"][-200:])
    assert found["code"] == 0, output
    assert set(found["outcomes"].values()) == {"passed"}, output
    assert set(found["outcomes"]) == _on_cpython(paths), output


def test_a_failing_test_is_noticed(suite: Suite) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("in_page.ini", SETTINGS)
        archive.writestr("tests/bad/test_bad.py", "async def test_bad():\n    assert 1 == 2\n")
        for path in (ROOT / "tests" / "in_page").glob("*.py"):
            archive.write(path, path.relative_to(ROOT).as_posix())
    found = suite.run(packed.getvalue(), ["tests/bad"])
    assert found["code"] == 1
    assert found["outcomes"] == {"tests/bad/test_bad.py::test_bad": "failed"}


def _tests() -> bytes:
    """The tests of the harness's rooms as a zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in_page.ini", SETTINGS)
        helpers = [path for path in (ROOT / "tests").glob("*.py") if not path.name.startswith("test_")]
        files = [*helpers, *(ROOT / "tests" / "in_page").glob("*.py")]
        folders = [*HARNESS_ROOMS, "fixtures"]
        for room in folders:
            files += [path for path in (ROOT / "tests" / room).rglob("*") if path.is_file()]
        for path in files:
            if "__pycache__" not in path.parts and "models" not in path.parts:
                archive.write(path, path.relative_to(ROOT).as_posix())
    return packed.getvalue()


def _on_cpython(paths: list[str]) -> set[str]:
    """Ids of the tests that the same selection has on CPython."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", MARKS, *paths]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line for line in listed.stdout.splitlines() if "::" in line}
