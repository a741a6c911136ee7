"""The other engines of the search benchmark: each gets our passages, and the weights that its manual offers."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._search_loop import TOP
from benchmarks._search_ours import address
from py_agent.evals.retrieval import Question, RankedHit
from py_agent.model.errors import AgentError
from py_agent.model.passage import Passage
from py_agent.search.stopwords import STOP_WORDS
from py_agent.site.bundle.cache import Cache, file_digest, key_of
from py_agent.site.bundle.layout import Layout
from py_agent.site.bundle.run import run

#: Engines from npm; their versions stand in ``benchmarks/search/package.json``.
NODE_ENGINES = ("minisearch", "lunr", "orama", "pagefind")
FTS5 = "fts5"
#: Pagefind runs in browsers only.
IN_BROWSER = "pagefind"

#: Seconds for one engine with one set of documentation at most.
LIMIT_S = 600
#: Bytes of memory for Node: two of the engines need more than its default for the largest set.
HEAP_MB = 4_096
#: Hits taken from an engine, of which those with an address that came before are dropped.
SPARE = 30

#: Weights of heading, path, title and text: as all engines get them.
_WEIGHTS = (3.0, 1.5, 2.0, 1.0)


class Measured(NamedTuple):
    """What an engine did with one set of documentation.

    Attributes:
        seconds: To build its index.
        bytes: Of the index without the texts, compressed.
        hits: Of each of the set's questions, by id.
        ms: Of each timed search.
    """

    seconds: float
    bytes: int
    hits: dict[str, list[RankedHit]]
    ms: list[float]


def install(root: Path) -> tuple[Path, dict[str, str]]:
    """The folder with the engines from npm and their runner, and the engines' versions by name."""
    source = root / "benchmarks" / "search"
    files = [source / name for name in ("package.json", "package-lock.json", "peers.mjs")]

    def make(folder: Path) -> None:
        for file in files:
            shutil.copyfile(file, folder / file.name)
        command = ["npm", "ci", "--no-progress", "--no-audit", "--no-fund"]
        run(command, "installing the other engines", hint="Check that npm's registry can be reached.", cwd=folder)

    folder = Cache(Layout.of(root).cache).folder_for("search-peers", key_of(*map(file_digest, files)), make)
    pinned = json.loads(files[0].read_text())["dependencies"]
    versions = {name.rpartition("/")[2]: version for name, version in pinned.items()}
    return folder, {**versions, FTS5: sqlite3.sqlite_version}


def without_stop_words(question: str) -> str:
    """The question without words that carry no content, unless it has no others."""
    words = question.split()
    kept = [word for word in words if word.strip(".,;:?!\"'").lower() not in STOP_WORDS]
    return " ".join(kept or words)


def write_passages(passages: Sequence[Passage], file: Path) -> None:
    """Writes what the engines from npm read, a passage a line, numbered from 0."""
    with file.open("w", encoding="utf-8") as lines:
        for number, passage in enumerate(passages):
            row = dict(zip(("heading", "path", "title", "text"), _fields(passage), strict=True))
            lines.write(json.dumps({"n": number, **row}) + "\n")


def _fields(passage: Passage) -> tuple[str, str, str, str]:
    return passage.path[-1] if passage.path else "", " > ".join(passage.path), passage.title, passage.text


def measure_node(
    engine: str,
    folder: Path,
    passages: Sequence[Passage],
    file: Path,
    questions: Sequence[Question],
    name: str,
    *,
    rounds: int,
) -> Measured:
    """Builds an npm engine's index of one set, finds its questions' hits, and times all questions.

    Args:
        engine: One of ``NODE_ENGINES``; Pagefind is only built, into ``file``'s folder.
        folder: Of ``install``.
        passages: Of the set.
        file: The same, as ``write_passages`` wrote them.
        questions: All; those of other sets are timed only.
        name: The set.
        rounds: Timed rounds.

    Raises:
        AgentError: The engine failed.
    """
    out = pagefind_folder(file)
    shutil.rmtree(out, ignore_errors=True)
    asked = [{"question": without_stop_words(one.question), "mine": one.corpus == name} for one in questions]
    timed = asked if rounds else [one for one in asked if one["mine"]]
    command = ["node", f"--max-old-space-size={HEAP_MB}", "peers.mjs", engine, str(file), str(out), str(rounds)]
    done = subprocess.run(  # noqa: S603 - our own script
        command, cwd=folder, input=json.dumps(timed).encode(), capture_output=True, check=False, timeout=LIMIT_S
    )
    if done.returncode:
        raise AgentError(
            f"{engine} failed with {name}:\n{done.stderr.decode()[-2_000:]}", hint=f"Run it alone: {' '.join(command)}"
        )
    told: dict[str, Any] = json.loads(done.stdout)
    mine = [one.id for one in questions if one.corpus == name]
    hits = dict(zip(mine, told["hits"], strict=True)) if told["hits"] else {}
    return Measured(told["seconds"], told["bytes"], named_hits(hits, passages), told["ms"])


def pagefind_folder(file: Path) -> Path:
    """Where Pagefind's files of a set lie whose passages are in ``file``."""
    return file.with_suffix(".pagefind")


def measure_fts5(
    passages: Sequence[Passage], file: Path, questions: Sequence[Question], name: str, *, rounds: int
) -> Measured:
    """The same by the full-text search of CPython's own SQLite: stemmed words, bm25 with weights of columns."""
    file.unlink(missing_ok=True)
    begin = time.perf_counter()
    database = sqlite3.connect(file)
    database.execute(
        "CREATE VIRTUAL TABLE passages USING fts5(heading, path, title, body, content='', tokenize='porter unicode61')"
    )
    rows = ((number, *_fields(passage)) for number, passage in enumerate(passages))
    database.executemany("INSERT INTO passages(rowid, heading, path, title, body) VALUES (?, ?, ?, ?, ?)", rows)
    database.execute("INSERT INTO passages(passages) VALUES ('optimize')")
    database.commit()
    database.execute("VACUUM")
    seconds = time.perf_counter() - begin

    def ask(question: str) -> list[tuple[int, float]]:
        words = re.findall(r"\w+", without_stop_words(question))
        query = " OR ".join(f'"{word}"' for word in words)
        score = "bm25(passages, ?, ?, ?, ?)"
        sql = f"SELECT rowid, -{score} AS score FROM passages WHERE passages MATCH ? ORDER BY score DESC LIMIT ?"  # noqa: S608
        return database.execute(sql, (*_WEIGHTS, query, SPARE)).fetchall()

    hits = {one.id: ask(one.question) for one in questions if one.corpus == name}
    times = []
    for _ in range(rounds):
        for one in questions:
            start = time.perf_counter()
            ask(one.question)
            times.append((time.perf_counter() - start) * 1_000)
    database.close()
    return Measured(seconds, len(gzip.compress(file.read_bytes(), 9)), named_hits(hits, passages), times)


def named_hits(
    hits: Mapping[str, Iterable[Sequence[float]]], passages: Sequence[Passage]
) -> dict[str, list[RankedHit]]:
    """Hits as ``(number, score)`` by their address; as with ours, one result an address."""
    named = {}
    for name, rows in hits.items():
        found: dict[str, RankedHit] = {}
        for number, score in rows:
            passage = passages[int(number)]
            hit = RankedHit(url=address(passage), text=passage.text, score=score)
            found.setdefault(hit.url, hit)
        named[name] = list(found.values())[:TOP]
    return named
