"""The search benchmark in Chromium: our search in Pyodide and in JavaScript, and Pagefind, which runs nowhere else."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext

from benchmarks.harness import BOOT
from py_agent.site.bundle.layout import Layout
from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium

#: Seconds for one measurement in the page.
LIMIT_S = 600

RUN_PYTHON = """
async ([source, code]) => {
  window.pyodide.FS.mkdirTree("/bench/benchmarks");
  window.pyodide.FS.writeFile("/bench/benchmarks/_search_loop.py", source);
  return JSON.parse(await window.pyodide.runPythonAsync(code));
}
"""

CODE = """
import importlib, json, sys
if "/bench" not in sys.path:
    sys.path.insert(0, "/bench")
importlib.invalidate_caches()
import js
from benchmarks import _search_loop as loop

async def fetch(name):
    response = await js.fetch(BASE + name)
    assert response.ok, name
    return (await response.arrayBuffer()).to_bytes()

json.dumps(await loop.measure(fetch, json.loads(QUESTIONS), ROUNDS))
"""

RUN_TWIN = """
async ([index, questions, rounds]) => {
  const { SearchIndex } = await import("/web/search/index.js");
  const search = await SearchIndex.open(new URL(index, location.href).href);
  const ask = async (question) => {
    const begin = performance.now();
    const { hits } = await search.search(question, 10);
    return { ms: performance.now() - begin, hits: hits.map(({ passage }) => passage.id) };
  };
  const first = [];
  for (const question of questions) first.push(await ask(question));
  const warm = [];
  for (let round = 0; round < rounds; round++) for (const question of questions) warm.push((await ask(question)).ms);
  return { first: first.map(({ ms }) => ms), warm, hits: first.map(({ hits }) => hits) };
}
"""

RUN_PAGEFIND = """
async ([base, asked, rounds]) => {
  const pagefind = await import(base + "pagefind.js");
  await pagefind.options({ bundlePath: base });
  await pagefind.init();
  const hits = [];
  for (const { question, mine } of asked) {
    const { results } = await pagefind.search(question);
    if (!mine) continue;
    const data = await Promise.all(results.slice(0, 30).map((result) => result.data()));
    hits.push(data.map(({ raw_url, url }, at) => [Number((raw_url ?? url).split("/").at(-1)), results[at].score]));
  }
  const ms = [];
  for (let round = 0; round < rounds; round++) {
    for (const { question } of asked) {
      const begin = performance.now();
      await pagefind.search(question);
      ms.push(performance.now() - begin);
    }
  }
  return { hits, ms };
}
"""


class Page:
    """A browser and a server with indexes in it.

    Args:
        browser: The browser.
        url: The server's address.
        root: The project's folder.
    """

    def __init__(self, browser: BrowserContext, url: str, root: Path) -> None:
        self._browser = browser
        self._url = url
        self._root = root

    @property
    def version(self) -> str:
        """Of the browser."""
        browser = self._browser.browser
        return browser.version if browser else "unknown"

    def python(self, mount: str, questions: Sequence[str], rounds: int) -> dict[str, Any]:
        """What ``_search_loop.measure`` gives in Pyodide, with the index that is mounted at ``mount``."""
        assets = json.loads((Layout.of(self._root).out / "assets.json").read_text(encoding="utf-8"))
        source = (self._root / "benchmarks" / "_search_loop.py").read_text(encoding="utf-8")
        values = {"BASE": f"{self._url}{mount}/", "QUESTIONS": json.dumps(questions), "ROUNDS": rounds}
        code = "".join(f"{name} = {value!r}\n" for name, value in values.items()) + CODE
        with self._open() as page:
            page.evaluate(BOOT, [f"{self._url}/agent/", assets])
            found: dict[str, Any] = page.evaluate(RUN_PYTHON, [source, code])
        return found

    def twin(self, mount: str, questions: Sequence[str], rounds: int) -> dict[str, Any]:
        """The same by the page's JavaScript search."""
        with self._open() as page:
            found: dict[str, Any] = page.evaluate(RUN_TWIN, [f"{mount}/manifest.json", list(questions), rounds])
        return found

    def pagefind(self, mount: str, asked: Sequence[Mapping[str, Any]], rounds: int) -> dict[str, Any]:
        """Hits as ``(number, score)`` of those questions that are ``mine``, and the times of all."""
        with self._open() as page:
            found: dict[str, Any] = page.evaluate(RUN_PAGEFIND, [f"{mount}/", list(asked), rounds])
        return found

    @contextlib.contextmanager
    def _open(self) -> Iterator[Any]:
        page = self._browser.new_page()
        page.set_default_timeout(LIMIT_S * 1_000)
        try:
            page.goto(self._url + "/")
            yield page
        finally:
            page.close()


@contextlib.contextmanager
def open_page(root: Path, indexes: Mapping[str, Path]) -> Iterator[Page]:
    """A page whose server has our JavaScript and the folders ``indexes``, by where they are mounted."""
    site = root / "build" / "bench" / "blank"
    site.mkdir(parents=True, exist_ok=True)
    (site / "index.html").write_text('<!doctype html><link rel="icon" href="data:,"><title>Blank</title>')
    mounts = {"/agent": Layout.of(root).agent, "/web": root / "web", **indexes}
    with SiteServer(site, mounts=mounts) as server, open_chromium() as browser:
        yield Page(browser, server.url, root)
