"""Ranking: BM25F over precomputed impacts, one result an address, and what the evidence lacks."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from py_agent.model.errors import SearchIndexError
from py_agent.model.passage import Passage
from py_agent.search.base import Hit, Page, SearchResult
from py_agent.search.files import (
    MAX_IMPACT,
    REBUILD,
    Breathe,
    Manifest,
    Passages,
    Terms,
    passage_number,
    read_manifest,
    verify,
)
from py_agent.search.query import QueryWord, read_query
from py_agent.search.repair import Vocabulary

#: Share of a name's weight that its parts get where the index has the name as a whole: `setTimeout` is wanted, not any
#: `set` and any `timeout`, but a passage about both should not come to nothing.
PART_WEIGHT = 0.35
#: A passage whose heading is covered by the query gains at most this share of its score. Measured on six corpora:
#: 0.3 and less lose first places, 1.5 and more lose pages among the first five.
HEADING_BOOST = 0.8
#: Release notes mention everything and explain nothing: their share of the score.
NOTES_FACTOR = 0.5
#: ... and how many results of one query may come from them.
MAX_NOTES = 2
#: Candidates that are looked at for each result wanted: some share an address, some are release notes.
SPARE_CANDIDATES = 20
#: Postings handled between two breaths: 1 to 2 ms in Pyodide.
SLICE_POSTINGS = 2_000

_T = TypeVar("_T")


class _Found(NamedTuple):
    """A query word's passages: number -> weighted impact, and those that have it in their heading."""

    word: QueryWord
    passages: dict[int, float]
    headings: set[int]


class IndexSearcher:
    """An opened index; ``py_agent.search.base.Searcher`` says what the methods do."""

    def __init__(self, manifest: Manifest, terms: Terms, passages: Passages, breathe: Breathe) -> None:
        self.manifest = manifest
        self._terms = terms
        self._passages = passages
        self._breathe = breathe
        self._vocabulary = Vocabulary(terms)

    async def passage(self, passage_id: str) -> Passage:
        """The passage with this id.

        Raises:
            KeyError: The index has no such passage.
        """
        number = passage_number(passage_id)
        if number is None or number >= len(self._passages):
            raise KeyError(passage_id)
        return self._passages.get(number)

    async def page(self, page: str) -> tuple[Passage, ...]:
        """The passages of one page in reading order; empty if the index has no such page."""
        return tuple(self._passages.get(number) for number in self._passages.of_page(page))

    async def pages(self) -> Sequence[Page]:
        """All pages, in the order of the index."""
        return [Page(page=page, title=title) for page, title, _ in self._terms.pages]

    async def search(self, query: str, top: int = 5) -> SearchResult:
        """Ranks passages for ``query``.

        Raises:
            SearchIndexError: ``damaged``: a line that the query needs cannot be read.
        """
        found: list[_Found] = []
        repaired: dict[str, str] = {}
        for word in read_query(query):
            found.append(await self._find(word, repaired))
        ranked = await self._rank(await self._add_up(found), top)
        hits = tuple(Hit(passage=self._passages.get(number), score=round(score, 4)) for number, score in ranked)
        missing = _missing(found, [number for number, _ in ranked])
        return SearchResult(query=query, hits=hits, missing=missing, repaired=repaired)

    async def _find(self, word: QueryWord, repaired: dict[str, str]) -> _Found:
        result = _Found(word, {}, set())
        if word.whole is not None and await self._add(result, word.whole, 1.0) and word.compound:
            for part in word.parts:
                await self._add(result, part, PART_WEIGHT / len(word.parts))
        elif word.whole is None or word.compound:
            for part in word.parts:
                if not await self._add(result, part, 1.0 / math.sqrt(len(word.parts))):
                    await self._add_repaired(result, part, repaired, 1.0 / math.sqrt(len(word.parts)))
        elif not result.passages:
            await self._add_repaired(result, word.whole, repaired, 1.0)
        return result

    async def _add_repaired(self, result: _Found, term: str, repaired: dict[str, str], weight: float) -> None:
        better = await self._vocabulary.repair(term, self._breathe, name=result.word.name)
        if better is not None:
            repaired[term] = better
            await self._add(result, better, weight)

    async def _add(self, result: _Found, term: str, weight: float) -> bool:
        values = self._terms.postings(term)
        if not values:
            return False
        total = len(self._passages)
        frequency = len(values) // 2
        scale = weight * math.log(1 + (total - frequency + 0.5) / (frequency + 0.5)) / MAX_IMPACT
        number = 0
        for start in range(0, len(values), 2 * SLICE_POSTINGS):
            part = values[start : start + 2 * SLICE_POSTINGS]
            for gap, value in zip(part[::2], part[1::2], strict=True):
                number += gap
                if number >= total:
                    raise SearchIndexError(
                        f"The index is damaged: the line of {term!r} names a passage that is not there.",
                        hint=REBUILD,
                        code="damaged",
                    )
                result.passages[number] = result.passages.get(number, 0.0) + scale * (value >> 1)
                if value & 1:
                    result.headings.add(number)
            await self._breathe()
        return True

    async def _add_up(self, found: Sequence[_Found]) -> dict[int, float]:
        """The score of each passage that holds a word of the query."""
        scores: dict[int, float] = {}
        headings: dict[int, int] = {}
        for one in found:
            async for part in self._slices(one.passages.items()):
                for number, score in part:
                    scores[number] = scores.get(number, 0.0) + score
            for number in one.headings:
                headings[number] = headings.get(number, 0) + 1
        async for counted in self._slices(headings.items()):
            for number, count in counted:
                scores[number] *= 1 + HEADING_BOOST * min(1.0, count / max(1, self._terms.heads[number]))
        return scores

    async def _rank(self, scores: dict[int, float], top: int) -> list[tuple[int, float]]:
        """The best ``top`` passages, one an address, few of them release notes."""
        notes = self._terms.notes
        plain: list[tuple[float, int]] = []
        noted: list[tuple[float, int]] = []
        room = top * SPARE_CANDIDATES
        async for part in self._slices(scores.items()):
            # Two lists, so that a thousand release notes cannot crowd the pages out.
            plain = heapq.nlargest(room, [*plain, *((score, -n) for n, score in part if not notes[n])])
            noted = heapq.nlargest(room, [*noted, *((score * NOTES_FACTOR, -n) for n, score in part if notes[n])])
        places: set[int] = set()
        ranked: list[tuple[int, float]] = []
        from_notes = 0
        for score, negative in sorted([*plain, *noted], reverse=True):
            number = -negative
            if len(ranked) == top or self._terms.places[number] in places:
                continue
            from_notes += notes[number]
            if notes[number] and from_notes > MAX_NOTES:
                continue
            places.add(self._terms.places[number])
            ranked.append((number, score))
        return ranked

    async def _slices(self, items: Iterable[_T]) -> AsyncIterator[list[_T]]:
        iterator = iter(items)
        while part := list(itertools.islice(iterator, SLICE_POSTINGS)):
            yield part
            await self._breathe()


def _missing(found: Sequence[_Found], hits: Sequence[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.word.text for one in found if not any(number in one.passages for number in hits)))


async def open_index(
    manifest: dict[str, Any], files: dict[str, bytes], *, breathe: Breathe | None = None
) -> IndexSearcher:
    """Opens an index from its parsed manifest and its files by name.

    Args:
        manifest: The content of ``manifest.json``.
        files: The bytes of each file that ``manifest["files"]`` names, by its ``path``.
        breathe: Awaited between slices of work; gives the event loop its turn. Default: ``asyncio.sleep(0)``.

    Raises:
        SearchIndexError: ``missing`` (a file was not given), ``damaged``, ``format``.
    """
    breathe = breathe or _sleep
    checked = read_manifest(manifest)
    for file in (checked.files.terms, checked.files.passages):
        if file.path not in files:
            raise SearchIndexError(
                f"The index lacks its file {file.path}.", hint="Deploy the whole index folder.", code="missing"
            )
        await verify(file, files[file.path], breathe)
    terms = Terms(checked.files.terms.path, files[checked.files.terms.path])
    passages = Passages(checked.files.passages.path, files[checked.files.passages.path], terms)
    await passages.open(breathe)
    return IndexSearcher(checked, terms, passages, breathe)


async def _sleep() -> None:
    await asyncio.sleep(0)
