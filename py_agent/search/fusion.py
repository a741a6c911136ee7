"""Words and meaning put together: one score a passage."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from py_agent.search.directory import Directory
from py_agent.search.lexical import Found
from py_agent.search.semantic import CodeShard, SemanticInfo, WordShard, query_code
from py_agent.search.shards import Breathe, Shards

#: What a passage of the query's very meaning would gain, beside 1 for the best by words. From 0.5 to 1.4 the figures of
#: six corpora change little (docs/search.md).
WEIGHT = 0.7
#: ... and in queries with a name in them: who writes `setTimeout` wants that name and nothing like it.
NAME_WEIGHT = 0.3
#: Passages that meaning brings in. The last of them gains nothing, the others by what they are more like the query.
CANDIDATES = 100


#: A best passage by words with less than this share of what their words could give counts for less than 1: who asks in
#: other words than the docs finds passages that hold one or two of them by chance.
STRONG = 0.4


class Weights(NamedTuple):
    """How words and meaning are put together; the constants above say what each is."""

    meaning: float = WEIGHT
    name: float = NAME_WEIGHT
    strong: float = STRONG


class Ranked(NamedTuple):
    """A passage, and what its words and its meaning give to its score."""

    passage: int
    words: float
    meaning: float

    @property
    def score(self) -> float:
        """What passages are ordered by."""
        return self.words + self.meaning


class Meaning:
    """The vectors of an index."""

    def __init__(self, info: SemanticInfo, directory: Directory, shards: Shards, breathe: Breathe) -> None:
        self.info = info
        self._directory = directory
        self._shards = shards
        self._breathe = breathe

    async def likeness(self, found: Sequence[Found]) -> list[tuple[int, int]]:
        """``(likeness, passage)`` of the passages most like the query, best first; none if no word has a row.

        Raises:
            SearchIndexError: A shard cannot be loaded.
        """
        info, bits = self.info, self.info.bits
        terms = dict.fromkeys(one.reading.get(part, part) for one in found for part in one.word.parts)
        await self._directory.words.reach(self._shards, keys=terms)
        numbers = {term: number for term in terms if (number := self._directory.words.find(term)) is not None}
        parse = partial(WordShard, bits=bits)
        wanted = sorted(set(numbers.values()))
        names = [self._directory.words.name(number) for number in wanted]
        loaded = await asyncio.gather(*(self._shards.load(name, parse) for name in names))
        shards = dict(zip(wanted, loaded, strict=True))
        rows = [row for term, number in numbers.items() if (row := shards[number].get(term)) is not None]
        code = query_code(rows, bits)
        if code is None:
            return []
        codes = partial(CodeShard, bits=bits)
        clusters = info.nearest(code)
        await self._directory.codes.reach(self._shards, numbers=clusters)
        near = [self._directory.codes.name(cluster) for cluster in clusters]
        best: list[tuple[int, int]] = []
        for shard in await asyncio.gather(*(self._shards.load(name, codes) for name in near)):
            best += ((like, -passage) for like, passage in shard.likeness(code, bits))
            await self._breathe()
        return [(like, -negative) for like, negative in heapq.nlargest(CANDIDATES, best)]


def fuse(
    lexical: Sequence[tuple[int, int]],
    likeness: Sequence[tuple[int, int]],
    bits: int,
    weight: float,
    whole: float = 0.0,
) -> list[Ranked]:
    """The passages that words or meaning found, best first.

    Args:
        lexical: ``(score, passage)``, best first; the best gets 1, the others their share.
        likeness: ``(likeness, passage)`` in bits, best first. Where half of the bits agree, they agree by chance.
        bits: Bits of a code.
        weight: Of meaning.
        whole: Score by words that counts as 1 where the best has less.
    """
    most = max(lexical[0][0], whole) if lexical else 1
    words = {passage: score / most for score, passage in lexical}
    half = max(1, bits // 2)
    least = max(half, likeness[-1][0]) if likeness else half
    meaning = {passage: weight * (like - least) / half for like, passage in likeness if like > least}
    if likeness and not meaning:
        # So few passages that all of them are as like: none is told from the others.
        meaning = {passage: weight * (like - half) / half for like, passage in likeness if like > half}
    ranked = [
        Ranked(passage, words.get(passage, 0.0), meaning.get(passage, 0.0)) for passage in words.keys() | meaning.keys()
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.passage))
