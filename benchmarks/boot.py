"""How long until a reader can ask: our bundle against Pyodide as it comes, in the same page and the same browser.

Stock: the library and ``.py`` wheels as Pyodide and the index ship them, loaded by ``loadPyodide({packages})`` in a
module worker, until ``py_agent.agent`` is imported. Ours: from opening the dialog until the product itself says
``ready``, which takes the same import, and the index and the database besides. Runs alternate; medians count.
"""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext

from py_agent.site.bundle.cache import Cache, file_digest
from py_agent.site.bundle.dist import in_order
from py_agent.site.bundle.layout import Layout
from py_agent.site.bundle.wheels import Wheel, locked_wheels, own_wheel, read_wheel
from py_agent.site.door.demo import build_docs, build_index, has_tag, script_tag
from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium

#: Measured runs of each side; a median of nine bears four bad ones, and a virtual machine has some.
RUNS = 9
#: Seconds for one boot: twenty times what a slow machine takes.
LIMIT_S = 120

#: The bar: ours takes at most this share of stock's time.
RATIO_TARGET = 0.40
#: Milliseconds that the host page may be blocked at a stretch. Chromium counts tasks above 50 ms as long.
LONG_TASK_TARGET = 50

#: Below the prefix that browsers may cache for ever: stock gets the same treatment as our own files.
STOCK = "/agent/assets/stock"

STOCK_WORKER = """
import { loadPyodide } from "./pyodide.mjs";
const pyodide = await loadPyodide({ indexURL: new URL("./", import.meta.url).href, packages: PACKAGES });
pyodide.runPython("import py_agent.agent");
self.postMessage("ready");
"""

WATCH = """
window.longTasks = [];
new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration)))
  .observe({ type: "longtask", buffered: true });
"""

BOOT_STOCK = """(url) => new Promise((done, failed) => {
  const start = performance.now();
  const worker = new Worker(url, { type: "module" });
  worker.onmessage = () => done({ ms: performance.now() - start, worker: worker.terminate() });
  worker.onerror = (event) => failed(new Error(event.message));
})"""

BOOT_OURS = """() => new Promise((done, failed) => {
  const start = performance.now();
  const look = () => {
    const state = document.querySelector("py-agent-widget")?.dataset.state;
    if (state === "ready") done({ ms: performance.now() - start, longest: Math.max(0, ...window.longTasks) });
    else if (state === "failed") failed(new Error(document.querySelector("py-agent-widget").shadowRoot.textContent));
    else setTimeout(look, 2);
  };
  window.longTasks.length = 0;
  window.PyAgent.open();
  look();
})"""


def main(root: Path) -> dict[str, dict[str, object]]:
    """Boot both sides by turns.

    Args:
        root: The project's folder; ``dist/`` is built.

    Returns:
        Figures: times in ms, the ratio, the page's longest task, bytes of a first visit.
    """
    layout = Layout.of(root)
    totals = json.loads(layout.report.read_text())["totals"]
    site = build_docs(root)
    index = build_index(root, site)
    mounts = {"/agent": layout.agent, "/agent/index": index, STOCK: stock_folder(root)}
    inject = "" if has_tag(site) else script_tag("Ask the docs")
    with SiteServer(site, mounts=mounts, inject=inject) as server, open_chromium() as browser:
        cold = {"stock": boot_stock(browser, server.url), "ours": boot_ours(browser, server.url)["ms"]}
        stock, ours = [], []
        for _ in range(RUNS):
            stock.append(boot_stock(browser, server.url))
            ours.append(boot_ours(browser, server.url))
    ratio = statistics.median(run["ms"] for run in ours) / statistics.median(stock)
    longest = max(run["longest"] for run in ours)
    return {
        "stock_warm_ms": figure(round(statistics.median(stock)), "ms"),
        "ours_warm_ms": figure(round(statistics.median(run["ms"] for run in ours)), "ms"),
        "ratio": figure(round(ratio, 3), "of stock", f"<= {RATIO_TARGET}", ratio <= RATIO_TARGET),
        "longest_main_thread_task_ms": figure(
            round(longest), "ms", f"<= {LONG_TASK_TARGET}", longest <= LONG_TASK_TARGET
        ),
        "stock_first_run_ms": figure(round(cold["stock"]), "ms"),
        "ours_cold_ms": figure(round(cold["ours"]), "ms"),
        "first_open_br": figure(totals["first_open_br"], "bytes"),
        "first_open_plain_host": figure(totals["first_open_plain_host"], "bytes"),
    }


def figure(value: float, unit: str, target: str | None = None, ok: bool = True) -> dict[str, object]:
    """One figure of a bench; `target` is None where it is only watched."""
    return {"value": value, "unit": unit, "target": target, "ok": ok}


def boot_stock(browser: BrowserContext, url: str) -> float:
    """Milliseconds from starting the stock worker until the harness is imported."""
    return float(_in_page(browser, url, BOOT_STOCK, f"{STOCK}/worker.js")["ms"])


def boot_ours(browser: BrowserContext, url: str) -> dict[str, float]:
    """Milliseconds from opening the dialog until ``ready``, and the page's longest task meanwhile."""
    return _in_page(browser, url, BOOT_OURS, None)


def _in_page(browser: BrowserContext, url: str, script: str, argument: str | None) -> dict[str, Any]:
    page = browser.new_page()
    page.set_default_timeout(LIMIT_S * 1000)
    try:
        page.add_init_script(WATCH)
        page.goto(url + "/", wait_until="load")
        page.wait_for_function("window.PyAgent")
        found = page.evaluate(script, argument)
        assert isinstance(found, dict)
        return found
    finally:
        page.close()


def stock_folder(root: Path) -> Path:
    """Pyodide from npm, untouched, and the wheels as they are, beside a lock file that names them."""
    layout = Layout.of(root)
    cache = Cache(layout.cache)
    folder = root / "build" / "bench" / "stock"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"):
        shutil.copyfile(layout.modules / "pyodide" / name, folder / name)
    wheels = in_order([read_wheel(path) for path in [*locked_wheels(cache, root), own_wheel(cache, root)]])
    for wheel in wheels:
        shutil.copyfile(wheel.path, folder / wheel.path.name)
    info = json.loads((layout.modules / "pyodide" / "pyodide-lock.json").read_text())["info"]
    (folder / "pyodide-lock.json").write_text(json.dumps({"info": info, "packages": stock_packages(wheels)}))
    names = json.dumps([wheel.name for wheel in wheels])
    (folder / "worker.js").write_text(STOCK_WORKER.replace("PACKAGES", names))
    return folder


def stock_packages(wheels: Sequence[Wheel]) -> dict[str, dict[str, object]]:
    """The lock file's entries for `wheels`."""
    return {
        wheel.name: {
            "name": wheel.name,
            "version": wheel.version,
            "file_name": wheel.path.name,
            "install_dir": "site",
            "sha256": file_digest(wheel.path),
            "package_type": "package",
            "imports": [],
            "depends": list(wheel.depends),
            "unvendored_tests": False,
        }
        for wheel in wheels
    }
