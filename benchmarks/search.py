"""Our search beside five others: six documentation sets, sixty questions, one run.

Every engine gets the same passages: those of our index. Quality counts on all sets, each with its own questions; speed
on Python's documentation, the largest, with all questions in five rounds after one that warms. Ours is measured with
words alone and, where the packages for it are installed, with meaning, in CPython, in Pyodide and in JavaScript.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import _search_loop as loop
from benchmarks import _search_ours as ours
from benchmarks import _search_peers as peers
from benchmarks._search_corpora import Corpus, find_corpora
from benchmarks._search_ours import MEANING, WORDS, Built
from benchmarks._search_page import open_page
from benchmarks._search_peers import FTS5, IN_BROWSER, NODE_ENGINES, Measured
from benchmarks.boot import figure
from py_agent.evals.retrieval import Question, RankedHit, Report, read_questions, score
from py_agent.model.errors import AgentError
from py_agent.model.passage import Passage
from py_agent.site.semantic import is_installed

#: The set that speed is measured with, and the rounds of all questions.
TIMED = "python"
ROUNDS = 5
#: Pagefind takes a third of a second a search and more: one round says as much.
PAGEFIND_ROUNDS = 1

#: Milliseconds of a search in Pyodide: half of them, and 95 of 100, stay below. Search then never holds up a frame of
#: the worker for longer than a reader's keystroke takes to show.
PYODIDE_P50_MS, PYODIDE_P95_MS = 10.0, 25.0
#: ... and of the page's own search, which runs at each keystroke beside everything else in a frame of 16 ms.
JAVASCRIPT_P95_MS = 3.0
#: Bytes, all of them as served, from nothing to the first results: less than one photograph.
FIRST_BYTES = {WORDS: 300_000, MEANING: 550_000}
#: ... and of each later question, in the median.
LATER_BYTES = 60_000
#: The set of about a thousand passages that the bytes of a first search are judged by.
JUDGED = "flask"
#: Shares of answerable questions that the index with meaning brings among the first five, and the mean reciprocal rank:
#: more than the best peer does, by more than chance.
PAGE_TARGET, PASSAGE_TARGET, MRR_TARGET, AUC_TARGET = 44 / 48, 39 / 48, 0.66, 0.80
#: The type of question whose passage must be among the first five every time: who asks for a name knows what he wants.
NAMES = "ident"


class Speed(NamedTuple):
    """Milliseconds of searches whose shards are there, and of those that load them."""

    warm: Sequence[float]
    first: Sequence[float]


class Ours(NamedTuple):
    """What our index of one variant did."""

    built: dict[str, Built]
    hits: dict[str, list[RankedHit]]
    first_bytes: dict[str, list[int]]
    later_bytes: dict[str, list[int]]


def main(root: Path) -> dict[str, dict[str, object]]:
    """Build, ask, time and score every engine.

    Args:
        root: The project's folder; ``dist/`` is built.

    Returns:
        Figures: quality, bytes, seconds and milliseconds of each engine.
    """
    questions = read_questions(root / "benchmarks" / "search" / "questions.jsonl")
    corpora = find_corpora(root)
    work = root / "build" / "bench" / "search"
    work.mkdir(parents=True, exist_ok=True)
    installed, versions = peers.install(root)
    _say("Documentation: " + ", ".join(f"{one.name} ({one.package})" for one in corpora))
    _say("Engines: " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    variants = [WORDS, MEANING] if is_installed() else [WORDS]
    if MEANING not in variants:
        _say("The packages for searching by meaning are not installed: it is not measured.")

    mine = {variant: Ours({}, {}, {}, {}) for variant in variants}
    others: dict[str, dict[str, Measured]] = {engine: {} for engine in (*NODE_ENGINES, FTS5)}
    passages: dict[str, list[Passage]] = {}
    for corpus in corpora:
        asked = [one for one in questions if one.corpus == corpus.name]
        _measure_ours(corpus, work, asked, mine)
        passages[corpus.name] = asyncio.run(ours.passages_of(mine[WORDS].built[corpus.name].folder))
        _measure_peers(corpus, work, installed, passages[corpus.name], questions, others)

    speeds = _speeds(root, {name: one.built[TIMED].folder for name, one in mine.items()}, questions)
    _ask_pagefind(root, work, passages, questions, others[IN_BROWSER])
    reports = {f"ours_{name}": score(questions, one.hits) for name, one in mine.items()}
    reports |= {name: score(questions, _all_hits(one)) for name, one in others.items()}
    _show(reports, mine, others, speeds)
    return _figures(reports, mine, others, speeds)


def _measure_ours(corpus: Corpus, work: Path, asked: Sequence[Question], mine: Mapping[str, Ours]) -> None:
    texts = [one.question for one in asked]
    for variant, built in ours.build(corpus, work, meaning=MEANING in mine).items():
        into = mine[variant]
        into.built[corpus.name] = built
        into.hits.update(asyncio.run(ours.find(built.folder, asked)))
        into.first_bytes[corpus.name] = asyncio.run(ours.bytes_to_first(built.folder, texts))
        into.later_bytes[corpus.name] = asyncio.run(ours.bytes_later(built.folder, texts))
        _say(f"{corpus.name}, by {variant}: {built.passages} passages in {built.seconds:.1f} s")


def _measure_peers(
    corpus: Corpus,
    work: Path,
    installed: Path,
    passages: Sequence[Passage],
    questions: Sequence[Question],
    others: Mapping[str, dict[str, Measured]],
) -> None:
    file = work / f"{corpus.name}.jsonl"
    peers.write_passages(passages, file)
    rounds = ROUNDS if corpus.name == TIMED else 0
    for engine in NODE_ENGINES:
        others[engine][corpus.name] = peers.measure_node(
            engine, installed, passages, file, questions, corpus.name, rounds=rounds
        )
        _say(f"{corpus.name}, {engine}: {others[engine][corpus.name].seconds:.1f} s")
    others[FTS5][corpus.name] = peers.measure_fts5(
        passages, file.with_suffix(".sqlite"), questions, corpus.name, rounds=rounds
    )


def _speeds(root: Path, folders: Mapping[str, Path], questions: Sequence[Question]) -> dict[str, dict[str, Speed]]:
    """Our speed by variant and by what runs it. All of them must find the same passages.

    Raises:
        AgentError: They do not.
    """
    texts = [one.question for one in questions]
    runs: dict[str, dict[str, dict[str, Any]]] = {
        variant: {
            "cpython": asyncio.run(loop.measure(ours.Fetcher(folder), texts, ROUNDS)),
            "node": _in_node(root, folder, texts),
        }
        for variant, folder in folders.items()
    }
    with open_page(root, {f"/index-{variant}": folder for variant, folder in folders.items()}) as page:
        _say(f"Chromium {page.version}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for variant, found in runs.items():
            found["pyodide"] = page.python(f"/index-{variant}", texts, ROUNDS)
            found["browser"] = page.twin(f"/index-{variant}", texts, ROUNDS)
    for variant, found in runs.items():
        for where, one in found.items():
            if one["hits"] != found["cpython"]["hits"]:
                raise AgentError(
                    f"{where} ranks otherwise than CPython does, in the index by {variant}.",
                    hint="Run the tests of the twin: pytest tests/search/test_twin.py.",
                )
    return {
        variant: {where: Speed(one["warm"], one["first"]) for where, one in found.items()}
        for variant, found in runs.items()
    }


def _in_node(root: Path, folder: Path, texts: Sequence[str]) -> dict[str, Any]:
    script = root / "benchmarks" / "search" / "twin.mjs"
    command = ["node", str(script), str(root / "web" / "search" / "index.js"), str(folder), str(ROUNDS)]
    done = subprocess.run(command, input=json.dumps(texts).encode(), capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise AgentError(f"The search in Node failed:\n{done.stderr.decode()[-2_000:]}", hint=" ".join(command))
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _ask_pagefind(
    root: Path,
    work: Path,
    passages: Mapping[str, Sequence[Passage]],
    questions: Sequence[Question],
    into: dict[str, Measured],
) -> None:
    folders = {f"/pagefind-{name}": peers.pagefind_folder(work / f"{name}.jsonl") for name in into}
    with open_page(root, folders) as page:
        for name, built in into.items():
            rounds = PAGEFIND_ROUNDS if name == TIMED else 0
            asked = [
                {"question": peers.without_stop_words(one.question), "mine": one.corpus == name}
                for one in questions
                if rounds or one.corpus == name
            ]
            found = page.pagefind(f"/pagefind-{name}", asked, rounds)
            ids = [one.id for one in questions if one.corpus == name]
            hits = peers.named_hits(dict(zip(ids, found["hits"], strict=True)), passages[name])
            into[name] = built._replace(hits=hits, ms=found["ms"])


def _all_hits(measured: Mapping[str, Measured]) -> dict[str, list[RankedHit]]:
    return {name: hits for one in measured.values() for name, hits in one.hits.items()}


def p95(times: Sequence[float]) -> float:
    """The value that 95 of 100 stay at or below."""
    return sorted(times)[math.ceil(len(times) * 0.95) - 1]


def _show(
    reports: Mapping[str, Report],
    mine: Mapping[str, Ours],
    others: Mapping[str, Mapping[str, Measured]],
    speeds: Mapping[str, Mapping[str, Speed]],
) -> None:
    """Prints the table."""
    _say("\n| engine | page@5 | passage@5 | MRR@10 | AUC | index MB | built in s | p50 / p95 ms |")
    _say("|---|---|---|---|---|---|---|---|")
    sizes = {f"ours_{name}": sum(one.index_bytes for one in found.built.values()) for name, found in mine.items()}
    sizes |= {name: sum(one.bytes for one in found.values()) for name, found in others.items()}
    seconds = {f"ours_{name}": sum(one.seconds for one in found.built.values()) for name, found in mine.items()}
    seconds |= {name: sum(one.seconds for one in found.values()) for name, found in others.items()}
    for name, report in reports.items():
        variant = name.removeprefix("ours_")
        if variant in speeds:
            shown = "; ".join(
                f"{where} {statistics.median(one.warm):.1f} / {p95(one.warm):.1f}"
                for where, one in speeds[variant].items()
            )
        else:
            times = others[name][TIMED].ms
            shown = f"{statistics.median(times):.1f} / {p95(times):.1f}"
        one = report.all
        _say(
            f"| {name} | {one.page_at_5:.3f} | {one.passage_at_5:.3f} | {one.mrr:.3f} | {report.auc or 0:.2f} "
            f"| {sizes[name] / 1e6:.2f} | {seconds[name]:.1f} | {shown} |"
        )


def _figures(
    reports: Mapping[str, Report],
    mine: Mapping[str, Ours],
    others: Mapping[str, Mapping[str, Measured]],
    speeds: Mapping[str, Mapping[str, Speed]],
) -> dict[str, dict[str, object]]:
    figures: dict[str, dict[str, object]] = {}
    for name, report in reports.items():
        judged = name == f"ours_{MEANING}"
        figures |= _quality(name, report, judged)
    for variant, found in mine.items():
        name = f"ours_{variant}"
        figures |= {
            f"{name}_index_bytes": figure(sum(one.index_bytes for one in found.built.values()), "bytes"),
            f"{name}_text_bytes": figure(sum(one.text_bytes for one in found.built.values()), "bytes"),
            f"{name}_build_s": figure(round(sum(one.seconds for one in found.built.values()), 1), "s"),
            f"{name}_encoded": figure(sum(one.encoded for one in found.built.values()), "passages, the rest kept"),
        }
        figures |= _bytes(name, found, FIRST_BYTES[variant])
        for where, speed in speeds[variant].items():
            figures |= _speed(f"{name}_{where}", where, speed)
    for name, measured in others.items():
        times = measured[TIMED].ms
        figures |= {
            f"{name}_index_bytes": figure(sum(one.bytes for one in measured.values()), "bytes"),
            f"{name}_build_s": figure(round(sum(one.seconds for one in measured.values()), 1), "s"),
            f"{name}_p50_ms": figure(round(statistics.median(times), 2), "ms"),
            f"{name}_p95_ms": figure(round(p95(times), 2), "ms"),
        }
    return figures


def _quality(name: str, report: Report, judged: bool) -> dict[str, dict[str, object]]:
    values: list[tuple[str, float | None, float]] = [
        ("page_at_5", report.all.page_at_5, PAGE_TARGET),
        ("passage_at_5", report.all.passage_at_5, PASSAGE_TARGET),
        ("mrr", report.all.mrr, MRR_TARGET),
        ("auc", report.auc, AUC_TARGET),
        ("names_passage_at_5", report.by_type[NAMES].passage_at_5, 1.0),
    ]
    return {
        f"{name}_{key}": figure(
            round(value, 3), "", f">= {target:.3f}" if judged else None, not judged or value >= target
        )
        for key, value, target in values
        if value is not None
    }


def _bytes(name: str, found: Ours, first_target: int) -> dict[str, dict[str, object]]:
    figures = {}
    for corpus, first in found.first_bytes.items():
        judged = corpus == JUDGED
        figures[f"{name}_{corpus}_first_max"] = figure(
            max(first), "bytes", f"<= {first_target}" if judged else None, not judged or max(first) <= first_target
        )
        figures[f"{name}_{corpus}_first_median"] = figure(round(statistics.median(first)), "bytes")
        later = round(statistics.median(found.later_bytes[corpus]))
        figures[f"{name}_{corpus}_later_median"] = figure(later, "bytes", f"<= {LATER_BYTES}", later <= LATER_BYTES)
    return figures


def _speed(name: str, where: str, speed: Speed) -> dict[str, dict[str, object]]:
    half, most = statistics.median(speed.warm), p95(speed.warm)
    half_target = PYODIDE_P50_MS if where == "pyodide" else None
    most_target = {"pyodide": PYODIDE_P95_MS, "node": JAVASCRIPT_P95_MS, "browser": JAVASCRIPT_P95_MS}.get(where)
    return {
        f"{name}_p50_ms": _at_most(half, half_target),
        f"{name}_p95_ms": _at_most(most, most_target),
        f"{name}_first_touch_p50_ms": _at_most(statistics.median(speed.first), None),
        f"{name}_first_touch_p95_ms": _at_most(p95(speed.first), None),
    }


def _at_most(value: float, target: float | None) -> dict[str, object]:
    if target is None:
        return figure(round(value, 2), "ms")
    return figure(round(value, 2), "ms", f"<= {target:.0f}", value <= target)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
