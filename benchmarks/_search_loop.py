"""The measured loop of the search benchmark; CPython and Pyodide run it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from py_agent.model.config import YIELD_MS_WORKER
from py_agent.runner.breathe import Breather
from py_agent.search import IndexSearcher, open_index

#: Results of a search.
TOP = 10


async def measure(fetch: Callable[[str], Awaitable[bytes]], questions: Sequence[str], rounds: int) -> dict[str, Any]:
    """Asks each question in ``rounds`` rounds of a new searcher; in one more round before, each for the first time.

    Returns:
        ``first`` and ``warm``: milliseconds of each search, shards loaded by it or already there. ``hits``: the ids of
        each question's passages.
    """
    searcher = await open_searcher(fetch)
    first, hits = await _ask(searcher, questions)
    warm: list[float] = []
    for _ in range(rounds):
        warm += (await _ask(searcher, questions))[0]
    return {"first": first, "warm": warm, "hits": hits}


async def open_searcher(fetch: Callable[[str], Awaitable[bytes]]) -> IndexSearcher:
    """An opened index whose files ``fetch`` gets."""
    return await open_index(await fetch("manifest.json"), fetch, breathe=Breather(YIELD_MS_WORKER))


async def _ask(searcher: IndexSearcher, questions: Sequence[str]) -> tuple[list[float], list[list[str]]]:
    times, hits = [], []
    for question in questions:
        begin = time.perf_counter()
        result = await searcher.search(question, TOP)
        times.append((time.perf_counter() - begin) * 1_000)
        hits.append([hit.passage.id for hit in result.hits])
    return times, hits
