"""What a dispatch costs besides the engine: assembly, parsing, tools, gates, storage, in a thread of 200 messages.

Everything between the engine's last chunk and its next request counts, and all that happens while it streams. The
engine says what it is told at once. CPython and Pyodide run the same loop (``_harness_loop.py``); pydantic-ai runs the
same turn beside ours in one process.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import _harness_loop as loop
from benchmarks.boot import figure
from py_agent.model.errors import AgentError
from py_agent.site.bundle.cache import Cache, file_digest, key_of
from py_agent.site.bundle.layout import Layout
from py_agent.site.bundle.run import run
from py_agent.site.serve import SiteServer
from py_agent.storage.sqlite import SqliteConnection
from py_agent.storage.store import Store
from py_agent.testing.chromium import open_chromium

#: Messages of the two threads.
SHORT, LONG = 200, 800

#: Milliseconds that 95 of 100 dispatches stay under: nobody notices 10 ms, and a page's frame is 16 ms.
P95_CPYTHON_MS = 10.0
#: ... and in Pyodide, which is four to six times slower: still less than one token of a model takes.
P95_PAGE_MS = 60.0
#: Four times the thread may cost at most so many times as much: linear, and a little for the machine.
GROWTH = 4.5

#: Seconds for the loop in the page at most.
LIMIT_S = 300

LOCK = "requirements-bench.lock"

BOOT = """
async ([agent, relative]) => {
  const absolute = (value) => typeof value === "string" ? new URL(value, agent).href : value;
  const assets = Object.fromEntries(Object.entries(relative).map(([key, value]) => [key, absolute(value)]));
  for (const key in assets.pyodide) assets.pyodide[key] = absolute(assets.pyodide[key]);
  for (const archive of assets.archives) archive.url = absolute(archive.url);
  const {addLatePackages, bootPython, Line, Stopwatch} = await import(assets.host);
  window.assets = assets;
  window.newLine = () => new Line(assets.storage, "module", "storage worker");
  window.pyodide = await bootPython(assets, new Stopwatch());
  await addLatePackages(assets, window.pyodide);
}
"""

MEASURE = """
async ([source, code]) => {
  window.pyodide.FS.mkdirTree("/bench/benchmarks");
  window.pyodide.FS.writeFile("/bench/benchmarks/_harness_loop.py", source);
  return JSON.parse(await window.pyodide.runPythonAsync(code));
}
"""

CODE = """
import json, sys, importlib
sys.path.insert(0, "/bench")
importlib.invalidate_caches()
import js
from benchmarks import _harness_loop as loop
from py_agent.browser.port import WorkerPort
from py_agent.browser.storage import StorageWorker
from py_agent.browser.wires import LineWire
from py_agent.storage.store import Store

storage = StorageWorker(
    WorkerPort(LineWire(js.newLine()), "storage worker"), wasm=js.assets.sqliteWasm, directory="bench"
)
await storage.open()
store = Store(storage)
await store.open()
json.dumps([await loop.measure(store, SHORT), await loop.measure(store, LONG)])
"""


def main(root: Path) -> dict[str, dict[str, object]]:
    """Measure the loop on CPython, in the page, and beside the peer.

    Args:
        root: The project's folder; ``dist/`` is built.

    Returns:
        Figures: milliseconds a dispatch, growth with the thread, ratio to the peer.
    """
    short, long = asyncio.run(_on_cpython())
    page_short, page_long = _in_page(root)
    peer = _beside_peer(root)
    ratio = peer["ours_mean_ms"] / peer["peer_mean_ms"]
    return {
        **_figures("cpython", short, long, P95_CPYTHON_MS),
        **_figures("page", page_short, page_long, P95_PAGE_MS),
        "peer_mean_ms": figure(round(peer["peer_mean_ms"], 2), f"ms ({peer['peer']})"),
        "ours_beside_it_mean_ms": figure(round(peer["ours_mean_ms"], 2), "ms"),
        "ratio": figure(round(ratio, 3), "of the peer"),
    }


def _figures(name: str, short: list[float], long: list[float], target: float) -> dict[str, dict[str, object]]:
    highest = loop.p95(short)
    growth = statistics.fmean(long) / statistics.fmean(short)
    return {
        f"{name}_median_ms": figure(round(statistics.median(short), 2), "ms"),
        f"{name}_p95_ms": figure(round(highest, 2), "ms", f"<= {target:.0f}", highest <= target),
        f"{name}_growth_{SHORT}_to_{LONG}": figure(round(growth, 2), "times", f"<= {GROWTH}", growth <= GROWTH),
    }


async def _on_cpython() -> tuple[list[float], list[float]]:
    results = []
    for messages in (SHORT, LONG):
        store = Store(SqliteConnection(":memory:"))
        await store.open()
        results.append(await loop.measure(store, messages))
    return results[0], results[1]


def _in_page(root: Path) -> tuple[list[float], list[float]]:
    layout = Layout.of(root)
    assets: dict[str, Any] = json.loads((layout.out / "assets.json").read_text(encoding="utf-8"))
    source = (root / "benchmarks" / "_harness_loop.py").read_text(encoding="utf-8")
    site = root / "build" / "bench" / "blank"
    site.mkdir(parents=True, exist_ok=True)
    (site / "index.html").write_text('<!doctype html><link rel="icon" href="data:,"><title>Blank</title>')
    with SiteServer(site, mounts={"/agent": layout.agent}) as server, open_chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(LIMIT_S * 1_000)
        page.goto(server.url + "/")
        page.evaluate(BOOT, [f"{server.url}/agent/", assets])
        code = CODE.replace("SHORT", str(SHORT)).replace("LONG", str(LONG))
        short, long = page.evaluate(MEASURE, [source, code])
    return short, long


def _beside_peer(root: Path) -> dict[str, Any]:
    """The peer's figures and ours, from one process of an environment that has both."""

    def make(folder: Path) -> None:
        venv = folder / "venv"
        run([sys.executable, "-m", "venv", venv], "making the peer's environment", hint="Python's venv must work.")
        pip = [venv / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        run(
            [*pip, "--require-hashes", "--no-deps", "-r", root / LOCK],
            f"installing {LOCK}",
            hint="Check that the package index can be reached.",
        )

    folder = Cache(Layout.of(root).cache).folder_for("peer", key_of(file_digest(root / LOCK), sys.version), make)
    command = [str(folder / "venv" / "bin" / "python"), "-m", "benchmarks._harness_peer"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - our own venv
    if done.returncode:
        raise AgentError(f"The peer's run failed:\n{done.stderr[-2_000:]}", hint="Run it alone: " + " ".join(command))
    found: dict[str, Any] = json.loads(done.stdout)
    return found
