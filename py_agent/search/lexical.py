"""The words of a query looked up and added up: BM25F over impacts that were computed when the index was built.

All of it is whole numbers, so that every reader of an index ranks alike (``web/search/lexical.js`` does the same).
"""

from __future__ import annotations

import asyncio
import heapq
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from math import isqrt
from typing import NamedTuple

from py_agent.search.directory import Directory
from py_agent.search.postings import MAX_IMPACT, Entry, Postings, TermShard, decode
from py_agent.search.query import QueryWord
from py_agent.search.repair import repair
from py_agent.search.shards import Breathe, Shards
from py_agent.search.tokens import is_letters

#: Weights are in thousandths.
WHOLE = 1_000
#: Share of a name's weight that its parts get where the index has the name as a whole: `setTimeout` is wanted, not any
#: `set` and any `timeout`, but a passage about both should not come to nothing.
PARTS = 350
#: Weight of a synonym, which the site's owner names but the reader did not write.
SYNONYM = 700
#: Weight of a word that begins as the last word of an unfinished query does.
COMPLETION = 500
#: Words that an unfinished one may become, and the letters from which on it becomes any.
MAX_COMPLETIONS = 8
MIN_PREFIX_CHARS = 2
#: A passage whose heading is covered by the query gains at most this many fifths of its score. Measured on six corpora:
#: 0.3 and less lose first places, 1.5 and more lose pages among the first five.
HEADING_FIFTHS = 4
#: Divisible by the number of terms of most headings: shares of a heading are whole numbers of it.
COVERED = 2_520
#: Postings handled between two breaths: 1 to 2 ms in Pyodide.
SLICE_POSTINGS = 4_000


class Term(NamedTuple):
    """A term of the index that a query word asks for. ``weight`` and ``idf`` in thousandths, ``scale`` is both."""

    term: str
    weight: int
    idf: int
    scale: int
    postings: Postings

    def holds(self, passage: int) -> bool:
        """Whether ``passage`` has the term."""
        return _at(self.postings.passages, passage) is not None


class Found(NamedTuple):
    """A query word and the terms that it became. ``reading``: the word it was repaired to."""

    word: QueryWord
    terms: tuple[Term, ...]
    reading: dict[str, str]

    def holds(self, passage: int) -> bool:
        """Whether ``passage`` has the word."""
        return any(term.holds(passage) for term in self.terms)


class Scores(NamedTuple):
    """What the passages that hold a word of the query got: their words' points, and how much of their heading."""

    points: dict[int, int]
    covered: dict[int, int]

    def best(self, count: int) -> list[tuple[int, int]]:
        """``(score, passage)`` of the best ``count``, best first; earlier passages first where scores are equal."""
        covered = self.covered
        whole = 5 * COVERED
        rows = (
            (points * (whole + HEADING_FIFTHS * min(COVERED, covered[passage])), -passage)
            if passage in covered
            else (points * whole, -passage)
            for passage, points in self.points.items()
        )
        return [(score, -negative) for score, negative in heapq.nlargest(count, rows)]


class Lexicon:
    """The term side of an index."""

    def __init__(self, directory: Directory, shards: Shards, breathe: Breathe) -> None:
        self._directory = directory
        self._shards = shards
        self._breathe = breathe

    async def find(self, words: Sequence[QueryWord], *, unfinished: bool = False) -> list[Found]:
        """Looks up the words of a query.

        Args:
            words: As ``read_query`` gave them.
            unfinished: The last word may go on: words that begin like it are found, too.

        Raises:
            SearchIndexError: A shard cannot be loaded.
        """
        await self._load({term for word in words for term in self._wanted(word)})
        readings: list[dict[str, str]] = [{} for _ in words]
        plans = [
            await self._plan(word, reading, unfinished=unfinished and number == len(words) - 1)
            for number, (word, reading) in enumerate(zip(words, readings, strict=True))
        ]
        entries = [[(term, weight, entry) for term, weight, entry in plan] for plan in plans]
        await asyncio.gather(*(self._long(entry) for plan in entries for _, _, entry in plan))
        return [
            Found(word, tuple([await self._term(*one) for one in plan]), reading)
            for word, plan, reading in zip(words, entries, readings, strict=True)
        ]

    def _wanted(self, word: QueryWord) -> Iterable[str]:
        terms = [*word.parts, *([word.whole] if word.whole is not None else [])]
        return [*terms, *(other for term in terms for other in self._directory.synonyms.get(term, ()))]

    async def _load(self, terms: Collection[str]) -> None:
        await self._directory.terms.reach(self._shards, keys=terms)
        numbers = {number for term in terms if (number := self._directory.terms.find(term)) is not None}
        await asyncio.gather(*(self._shard(number) for number in sorted(numbers)))

    async def _shard(self, number: int) -> TermShard:
        return await self._shards.load(self._directory.terms.name(number), TermShard)

    async def _entry(self, term: str) -> Entry | None:
        await self._directory.terms.reach(self._shards, keys=[term])
        number = self._directory.terms.find(term)
        return None if number is None else (await self._shard(number)).get(term)

    async def _plan(
        self, word: QueryWord, reading: dict[str, str], *, unfinished: bool
    ) -> list[tuple[str, int, Entry]]:
        plan: list[tuple[str, int, Entry]] = []

        async def add(term: str, weight: int, repaired: bool = False) -> bool:
            entry = await self._entry(term)
            if entry is None and repaired:
                better = await repair(term, self._directory, self._shards, name=word.name)
                entry = await self._entry(better) if better is not None else None
                if better is not None and entry is not None:
                    reading[term] = better
                    term = better
            if entry is not None:
                plan.append((term, weight, entry))
            for other in self._directory.synonyms.get(term, ()):
                if (same := await self._entry(other)) is not None:
                    plan.append((other, weight * SYNONYM // WHOLE, same))
            return entry is not None

        if unfinished and word.whole is not None and not word.compound:
            plan += await self._completions(word.whole)
        share = len(word.parts)
        if word.whole is not None and await add(word.whole, WHOLE) and word.compound:
            for part in word.parts:
                await add(part, PARTS // share)
        elif word.whole is None or word.compound:
            for part in word.parts:
                await add(part, isqrt(WHOLE * WHOLE // share), repaired=True)
        elif not plan:
            await add(word.whole, WHOLE, repaired=True)
        return plan

    async def _completions(self, prefix: str) -> list[tuple[str, int, Entry]]:
        """The commonest words of the shard around ``prefix`` that go on from it."""
        terms = self._directory.terms
        if len(prefix) < MIN_PREFIX_CHARS or not is_letters(prefix) or not len(terms):
            return []
        await terms.reach(self._shards, keys=[prefix])
        number = terms.find(prefix) or 0
        await terms.reach(self._shards, numbers=[number, number + 1])
        shards = [await self._shard(number)]
        if number + 1 < len(terms) and str(terms.starts(number + 1)).startswith(prefix):
            shards.append(await self._shard(number + 1))
        found = [
            (entry.idf, term, entry)
            for shard in shards
            for term in shard.terms
            if term.startswith(prefix) and term != prefix and (entry := shard.get(term)) is not None
        ]
        return [(term, COMPLETION, entry) for _, term, entry in sorted(found)[:MAX_COMPLETIONS]]

    async def _long(self, entry: Entry) -> bytes:
        number = entry.list_number
        if number is None:
            return entry.data
        await self._directory.lists.reach(self._shards, numbers=[number])
        return await self._shards.load(self._directory.lists.name(number), bytes)

    async def _term(self, term: str, weight: int, entry: Entry) -> Term:
        postings = decode(await self._long(entry))
        await self._breathe()
        return Term(term, weight, entry.idf, max(1, weight * entry.idf // WHOLE), postings)

    async def add_up(self, found: Iterable[Found]) -> Scores:
        """Adds up what the words of a query give to each passage."""
        points: dict[int, int] = {}
        covered: dict[int, int] = {}
        get = points.get
        for one in found:
            heads: dict[int, int] = {}
            for term in one.terms:
                passages, impacts, headings = term.postings
                scale = term.scale
                for start in range(0, len(passages), SLICE_POSTINGS):
                    end = start + SLICE_POSTINGS
                    for passage, impact in zip(passages[start:end], impacts[start:end], strict=True):
                        points[passage] = get(passage, 0) + scale * impact
                    if headings:
                        heads.update((p, h) for p, h in zip(passages[start:end], headings[start:end], strict=True) if h)
                    await self._breathe()
            for passage, count in heads.items():
                covered[passage] = covered.get(passage, 0) + COVERED // count
        return Scores(points, covered)


def potential(found: Iterable[Found]) -> int:
    """The score of a passage, were there one, that holds all words as strongly as a passage can, in its heading."""
    return sum(term.scale for one in found for term in one.terms) * MAX_IMPACT * (5 + HEADING_FIFTHS) * COVERED


def impact_in(term: Term, passage: int) -> tuple[int, int] | None:
    """Impact of ``term`` in ``passage`` and the number of terms of its heading, 0 if the term is not in it."""
    at = _at(term.postings.passages, passage)
    if at is None:
        return None
    return term.postings.impacts[at], term.postings.headings[at] if term.postings.headings else 0


def _at(passages: Sequence[int], passage: int) -> int | None:
    at = bisect_left(passages, passage)
    return at if at < len(passages) and passages[at] == passage else None
