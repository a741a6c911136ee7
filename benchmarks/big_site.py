"""A documentation site of 100,000 pages: how long its index takes, in how much memory, and what the first result costs.

The site is made up (``_big_pages.py``) and written to disk as HTML files. ``py-agent index`` reads and indexes it in a
process of its own, whose memory is watched with that of all its children. Then a real page in Chromium asks questions,
each from nothing: every byte of the index counts as the server sent it. The same questions go to the JavaScript search
and to the harness's own in Pyodide; both must find the same. At last one reader asks many questions in a row.

The files go to ``build/cache/big-site`` and are removed afterwards. By hand, and smaller:
``python -m benchmarks.big_site --pages 5000 --keep``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, Request

from benchmarks._big_pages import questions, write_site
from benchmarks.boot import figure
from benchmarks.harness import BOOT
from py_agent.model.errors import AgentError
from py_agent.search.postings import TermShard
from py_agent.search.shards import unpack
from py_agent.site.bundle.layout import Layout
from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium

#: `build.py bench` without a name leaves this one out: it takes a quarter of an hour and two gigabytes of disk.
ON_REQUEST = True

#: Pages of the site, and what they are drawn by.
PAGES, SEED = 100_000, 4
#: Minutes from starting `py-agent index` until its index is there, reading included, on two cores: a night build
#: that is ten times as slow as a site generator would be switched off.
BUILD_MINUTES = 30.0
#: Gigabytes of memory for all of its processes: what a small build machine has.
BUILD_GB = 8.0
#: Different words of the site, or it is no large one.
TERMS = 500_000
#: Megabytes from nothing to the first ranked result: two pictures. A third is left to the semantic side.
FIRST_MB, FIRST_LEXICAL_MB = 1.5, 1.0
#: Questions asked from nothing, each in a page of its own; the one that costs most counts.
FIRST_QUESTIONS = 20
#: Of these the first ones are also asked of the harness in Pyodide, which takes seconds to start.
PYTHON_QUESTIONS = 5
#: Questions that one reader asks in a row.
LATER_QUESTIONS = 100
#: Seconds between two looks at the memory.
WATCH_S = 0.25
#: Seconds that one question may take in the page.
LIMIT_S = 120

OPEN = """async (manifest) => {
  const {SearchIndex} = await import("/web/search/index.js");
  window.index = await SearchIndex.open(manifest);
}"""
ASK = """async (query) => {
  const start = performance.now();
  const {hits} = await window.index.search(query, 5);
  return {ms: performance.now() - start, hits: hits.map(({passage, score}) => [passage.id, passage.url, score])};
}"""
OPEN_PYTHON = """
import js
from py_agent.search import open_index

async def fetch(name):
    answer = await js.fetch(FOLDER + name)
    return (await answer.arrayBuffer()).to_bytes()

index = await open_index(await fetch("manifest.json"), fetch)
"""
ASK_PYTHON = """
import json, time
start = time.perf_counter()
found = await index.search(QUERY, 5)
hits = [[hit.passage.id, hit.passage.url, hit.score] for hit in found.hits]
json.dumps({"ms": 1_000 * (time.perf_counter() - start), "hits": hits})
"""


@dataclass
class Build:
    """What ``py-agent index`` took: seconds, seconds of processor time of all its processes, gigabytes at the peak."""

    seconds: float
    processor: float
    gigabytes: float


@dataclass
class Asked:
    """What a question cost in the page: bytes of the index as served, milliseconds; and what it found."""

    size: int
    requests: int
    ms: float
    hits: list[list[Any]]


def main(root: Path) -> dict[str, dict[str, object]]:
    """Make the site, index it, and ask.

    Args:
        root: The project's folder; ``dist/`` is built.

    Returns:
        Figures: of the build, of the index, of the first result and of later ones.

    Raises:
        AgentError: The index could not be built, or a search failed.
    """
    return measure(root, PAGES)


def measure(
    root: Path, pages: int, *, folder: Path | None = None, keep: bool = False, python: bool = True
) -> dict[str, dict[str, object]]:
    """See ``main``.

    Args:
        root: The project's folder; ``dist/`` is built, where `python` is set.
        pages: Pages of the site.
        folder: Where the site and its index go; ``build/cache/big-site`` unless said.
        keep: Leave them there.
        python: Ask the harness in Pyodide, too.
    """
    folder = folder or Layout.of(root).cache / "big-site"
    shutil.rmtree(folder, ignore_errors=True)
    site, index = folder / "site", folder / "index"
    try:
        _say(f"writing {pages:,} pages")
        size = write_site(site, pages, SEED, os.cpu_count() or 1)
        _say(f"indexing {size / 1e9:.2f} GB of HTML")
        build = build_index(root, site, index)
        _say("asking in the page")
        return {**_of_build(index, build, size), **_of_page(root, index, pages, python=python)}
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _say(what: str) -> None:
    print(f"big-site: {what} ...", file=sys.stderr, flush=True)


def build_index(root: Path, site: Path, index: Path) -> Build:
    """Runs ``py-agent index`` and watches it.

    Raises:
        AgentError: It failed.
    """
    command = [sys.executable, "-m", "py_agent.cli", "index", str(site), "--out", str(index)]
    command += ["--cache", str(index.with_name("readings")), "--semantic", "off"]
    log = index.with_name("index.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    with log.open("wb") as out:
        running = subprocess.Popen(  # noqa: S603 - our own command
            command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, stdout=out, stderr=out
        )
        peak = 0
        while running.poll() is None:
            peak = max(peak, memory_of(running.pid))
            time.sleep(WATCH_S)
    if running.returncode:
        told = log.read_text(encoding="utf-8", errors="replace")[-2_000:]
        raise AgentError(f"py-agent index failed:\n{told}", hint="Run it alone: " + " ".join(command))
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Build(seconds, processor, peak / 1e9)


def memory_of(process: int) -> int:
    """Resident bytes of ``process`` and of all that it started (Linux only); what they share counts for each."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
        parents.setdefault(parent, []).append(int(stat.parent.name))
    family, total = [process], 0
    for one in family:
        family += parents.get(one, [])
        try:
            pages = Path(f"/proc/{one}/statm").read_text(encoding="utf-8").split()[1]
        except OSError:
            continue
        total += int(pages) * os.sysconf("SC_PAGE_SIZE")
    return total


def _of_build(index: Path, build: Build, size: int) -> dict[str, dict[str, object]]:
    manifest = json.loads((index / "manifest.json").read_text(encoding="utf-8"))
    terms = sum(len(TermShard(unpack(file.name, file.read_bytes())).terms) for file in index.glob("terms-*.bin"))
    files = [file.stat().st_size for file in index.iterdir()]
    directory = (index / manifest["directory"]).stat().st_size
    minutes = build.seconds / 60
    # A smaller site, for a trial, has fewer words; the law of large numbers is not on trial.
    wanted = TERMS if manifest["pages"] >= PAGES else 0
    return {
        "pages": figure(manifest["pages"], "pages"),
        "html_gb": figure(round(size / 1e9, 2), "GB"),
        "passages": figure(manifest["passages"], "passages"),
        "terms": figure(terms, "terms", f">= {wanted}" if wanted else None, terms >= wanted),
        "build_minutes": figure(round(minutes, 2), "min", f"<= {BUILD_MINUTES:g}", minutes <= BUILD_MINUTES),
        # On a machine that does other work besides, this is what another run would take as well.
        "build_processor_minutes": figure(round(build.processor / 60, 2), "min"),
        "build_peak_gb": figure(round(build.gigabytes, 2), "GB", f"<= {BUILD_GB:g}", build.gigabytes <= BUILD_GB),
        "index_gb": figure(round(sum(files) / 1e9, 3), "GB"),
        "index_files": figure(len(files), "files"),
        "directory_kb": figure(round(directory / 1e3, 1), "kB"),
    }


def _of_page(root: Path, index: Path, pages: int, *, python: bool) -> dict[str, dict[str, object]]:
    asked = questions(pages, SEED, FIRST_QUESTIONS + LATER_QUESTIONS)
    first, later = asked[:FIRST_QUESTIONS], asked[FIRST_QUESTIONS:]
    blank = index.with_name("blank")
    blank.mkdir(exist_ok=True)
    (blank / "index.html").write_text('<!doctype html><link rel="icon" href="data:,"><title>Blank</title>')
    mounts = {"/index": index, "/web": root / "web"}
    layout = Layout.of(root)
    if python:
        mounts["/agent"] = layout.agent
    with SiteServer(blank, mounts=mounts) as server, open_chromium() as browser:
        fresh = [ask_from_nothing(browser, server, query) for query in first]
        in_a_row = ask_in_a_row(browser, server, later)
        harness = []
        if python:
            assets = json.loads((layout.out / "assets.json").read_text(encoding="utf-8"))
            harness = [ask_python(browser, server, assets, query) for query in first[:PYTHON_QUESTIONS]]
    for query, ours, twin in zip(first, harness, fresh, strict=False):
        if ours.hits != twin.hits:
            raise AgentError(f"The harness and the page's search differ on {query!r}.", hint="See tests/search.")
    most = max(one.size for one in fresh) / 1e6
    empty = sum(not one.hits for one in [*fresh, *in_a_row])
    figures = {
        "first_result_most_mb": figure(
            round(most, 3), "MB", f"<= {FIRST_LEXICAL_MB:g} (of {FIRST_MB:g})", most <= FIRST_LEXICAL_MB
        ),
        "first_result_median_mb": figure(round(statistics.median(one.size for one in fresh) / 1e6, 3), "MB"),
        "first_result_requests": figure(statistics.median(one.requests for one in fresh), "requests"),
        "first_result_ms": figure(round(statistics.median(one.ms for one in fresh)), "ms"),
        "later_result_median_kb": figure(round(statistics.median(one.size for one in in_a_row) / 1e3, 1), "kB"),
        "later_result_p95_kb": figure(round(_p95([one.size for one in in_a_row]) / 1e3, 1), "kB"),
        "later_result_median_ms": figure(round(statistics.median(one.ms for one in in_a_row), 1), "ms"),
        "without_result": figure(empty, "questions", "0", empty == 0),
    }
    if harness:
        most = max(one.size for one in harness) / 1e6
        figures["harness_first_result_most_mb"] = figure(
            round(most, 3), "MB", f"<= {FIRST_LEXICAL_MB:g}", most <= FIRST_LEXICAL_MB
        )
        figures["harness_first_result_ms"] = figure(round(statistics.median(one.ms for one in harness)), "ms")
    return figures


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


class _Meter:
    """Counts what a page gets of the index, as the server sent it."""

    def __init__(self, page: Page, server: SiteServer) -> None:
        self._page = page
        self._server = server
        self._before = self._answered()
        self._done: list[Request] = []
        page.on("requestfinished", self._count)

    def _answered(self) -> int:
        return sum(request.path.startswith("/index/") for request in self._server.requests)

    def _count(self, request: Request) -> None:
        if request.url.startswith(f"{self._server.url}/index/"):
            self._done.append(request)

    def take(self) -> tuple[int, int]:
        """Bytes and requests since the last time: all that the server has answered; the browser tells of some later."""
        wanted = self._answered() - self._before
        end = time.monotonic() + LIMIT_S
        while len(self._done) < wanted and time.monotonic() < end:
            self._page.wait_for_timeout(5)
        done, self._done = self._done, []
        self._before += wanted
        if len(done) != wanted:
            raise AgentError(f"The server answered {wanted} requests, the page tells of {len(done)}.")
        return sum(request.sizes()["responseBodySize"] for request in done), wanted


@contextmanager
def _page(browser: BrowserContext, server: SiteServer) -> Iterator[tuple[Page, _Meter]]:
    """A page that the browser's cache knows nothing for."""
    page = browser.new_page()
    try:
        page.set_default_timeout(LIMIT_S * 1_000)
        session = browser.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        meter = _Meter(page, server)
        page.goto(server.url + "/")
        yield page, meter
    finally:
        page.close()


def ask_from_nothing(browser: BrowserContext, server: SiteServer, query: str) -> Asked:
    """Opens the index in a new page and asks one question."""
    with _page(browser, server) as (page, meter):
        begin = time.perf_counter()
        page.evaluate(OPEN, f"{server.url}/index/manifest.json")
        found = page.evaluate(ASK, query)
        ms = 1_000 * (time.perf_counter() - begin)
        return Asked(*meter.take(), ms, found["hits"])


def ask_in_a_row(browser: BrowserContext, server: SiteServer, queries: Sequence[str]) -> list[Asked]:
    """Opens the index once and asks all; the first one's cost is not in it."""
    with _page(browser, server) as (page, meter):
        page.evaluate(OPEN, f"{server.url}/index/manifest.json")
        meter.take()
        asked = []
        for query in queries:
            found = page.evaluate(ASK, query)
            asked.append(Asked(*meter.take(), found["ms"], found["hits"]))
        return asked[1:]


def ask_python(browser: BrowserContext, server: SiteServer, assets: dict[str, Any], query: str) -> Asked:
    """Starts Pyodide in a new page, opens the index with the harness's own search, and asks one question."""
    with _page(browser, server) as (page, meter):
        page.evaluate(BOOT, [f"{server.url}/agent/", assets])
        run = "(code) => window.pyodide.runPythonAsync(code)"
        begin = time.perf_counter()
        page.evaluate(run, OPEN_PYTHON.replace("FOLDER", json.dumps(f"{server.url}/index/")))
        found = json.loads(page.evaluate(run, ASK_PYTHON.replace("QUERY", json.dumps(query))))
        ms = 1_000 * (time.perf_counter() - begin)
        return Asked(*meter.take(), ms, found["hits"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure a made-up site.")
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--folder", type=Path, help="where the site and its index go")
    parser.add_argument("--keep", action="store_true", help="leave them there")
    parser.add_argument("--no-python", action="store_true", help="do not ask the harness in Pyodide (needs dist/)")
    options = parser.parse_args()
    found = measure(
        Path(__file__).resolve().parents[1],
        options.pages,
        folder=options.folder,
        keep=options.keep,
        python=not options.no_python,
    )
    print(json.dumps(found, indent=1))
