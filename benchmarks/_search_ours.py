"""Our side of the search benchmark: indexes with and without meaning, what they find, and what a reader loads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import _search_loop as loop
from benchmarks._search_corpora import Corpus
from py_agent.evals.retrieval import Question, RankedHit
from py_agent.model.passage import Passage
from py_agent.site.cache import VECTORS, ReadingCache, default_folder
from py_agent.site.index import write_index
from py_agent.site.load import load_index
from py_agent.site.read import Page, find_files, read_site
from py_agent.site.semantic import CachingEncoder, Encoder, build_semantic

#: Variants of our index.
WORDS, MEANING = "words", "meaning"


class Built(NamedTuple):
    """An index in a folder, and how it came to be.

    Attributes:
        folder: Where it lies.
        seconds: From the site's files to the index.
        encoded: Passages that the encoder had to read; the others' vectors were kept by an earlier build.
        passages: How many there are.
    """

    folder: Path
    seconds: float
    encoded: int
    passages: int

    @property
    def index_bytes(self) -> int:
        """Bytes of all files but those of the passages' texts, as they are served."""
        return sum(file.stat().st_size for file in self.folder.iterdir() if not file.name.startswith("texts-"))

    @property
    def text_bytes(self) -> int:
        """Bytes of the passages' texts, as they are served."""
        return sum(file.stat().st_size for file in self.folder.glob("texts-*"))


class _CountingEncoder:
    def __init__(self) -> None:
        self._encoder = Encoder()
        self.words = self._encoder.words
        self.encoded = 0

    def encode(self, texts: Sequence[str], progress: Any = None) -> Any:
        self.encoded += len(texts)
        return self._encoder.encode(texts, progress)


def build(corpus: Corpus, out: Path, *, meaning: bool) -> dict[str, Built]:
    """Indexes ``corpus`` into folders under ``out``, by words alone and, if wanted, by meaning, too.

    No page is taken from an earlier build; vectors are, from the cache that every build uses.
    """
    begin = time.perf_counter()
    found = read_site(corpus.folder, find_files(corpus.folder), processes=2)
    read_s = time.perf_counter() - begin
    built = {WORDS: _write(found.pages, out / WORDS / corpus.name, read_s, None)}
    if meaning:
        encoder = _CountingEncoder()
        built[MEANING] = _write(found.pages, out / MEANING / corpus.name, read_s, encoder)
    return built


def _write(pages: Sequence[Page], out: Path, read_s: float, encoder: _CountingEncoder | None) -> Built:
    begin = time.perf_counter()
    cache = ReadingCache(default_folder() if encoder else None, VECTORS)
    caching = CachingEncoder(encoder, cache) if encoder else None
    manifest = write_index(
        pages,
        out,
        meaning=(lambda rows, words, tokens: build_semantic(rows, words.frequency, tokens, caching))
        if caching
        else None,
    )
    cache.close()
    seconds = read_s + time.perf_counter() - begin
    return Built(out, seconds, encoder.encoded if encoder else 0, manifest.passages)


async def passages_of(folder: Path) -> list[Passage]:
    """All passages of an index, in order: what the other engines get."""
    searcher = await load_index(folder)
    return [await searcher.passage(f"p{number}") for number in range(1, searcher.manifest.passages + 1)]


async def find(folder: Path, questions: Sequence[Question]) -> dict[str, list[RankedHit]]:
    """The hits of each question by its id."""
    searcher = await load_index(folder)
    found = {}
    for question in questions:
        result = await searcher.search(question.question, loop.TOP)
        found[question.id] = [
            RankedHit(url=address(hit.passage), text=hit.passage.text, score=hit.score) for hit in result.hits
        ]
    return found


def address(passage: Passage) -> str:
    """Page and anchor, as questions name them."""
    return f"{passage.page}#{passage.anchor}" if passage.anchor else passage.page


class Fetcher:
    """Gets an index's files from its folder, and counts their bytes, as they are served."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.bytes = 0

    async def __call__(self, name: str) -> bytes:
        """The file's bytes."""
        data = await asyncio.to_thread((self._folder / name).read_bytes)
        self.bytes += len(data)
        return data


async def bytes_to_first(folder: Path, questions: Sequence[str]) -> list[int]:
    """Bytes from nothing to the first ranked results of each question, manifest and texts counted."""
    found = []
    for question in questions:
        fetch = Fetcher(folder)
        await (await loop.open_searcher(fetch)).search(question)
        found.append(fetch.bytes)
    return found


async def bytes_later(folder: Path, questions: Sequence[str]) -> list[int]:
    """Bytes of each question but the first, asked one after the other."""
    fetch = Fetcher(folder)
    searcher = await loop.open_searcher(fetch)
    found = []
    for question in questions:
        before = fetch.bytes
        await searcher.search(question)
        found.append(fetch.bytes - before)
    return found[1:]
