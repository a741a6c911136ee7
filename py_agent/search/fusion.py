"""Words and meaning put together: one score a passage."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Sequence
from functools import partial

from py_agent.search.directory import Directory
from py_agent.search.lexical import Found
from py_agent.search.semantic import CodeShard, SemanticInfo, WordShard, query_code
from py_agent.search.shards import Breathe, Shards

#: Weight of meaning beside that of words, whose best passage has 1 ...
WEIGHT = 0.7
#: ... and in queries with a name in them: who writes `setTimeout` wants that name and nothing like it.
NAME_WEIGHT = 0.3
#: Passages that meaning brings in.
CANDIDATES = 100


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
        near = [self._directory.codes.name(cluster) for cluster in info.nearest(code)]
        best: list[tuple[int, int]] = []
        for shard in await asyncio.gather(*(self._shards.load(name, codes) for name in near)):
            best += ((like, -passage) for like, passage in shard.likeness(code, bits))
            await self._breathe()
        return [(like, -negative) for like, negative in heapq.nlargest(CANDIDATES, best)]


def fuse(
    lexical: Sequence[tuple[int, int]], likeness: Sequence[tuple[int, int]], bits: int, weight: float
) -> list[tuple[float, int]]:
    """``(score, passage)``, best first: the share of the best by words, plus the weighted share of the best by meaning.

    Args:
        lexical: ``(score, passage)``, best first.
        likeness: ``(likeness, passage)``, best first. Half of the bits agree by chance: that is no likeness.
        bits: Bits of a code.
        weight: Of meaning.
    """
    scores: dict[int, float] = {}
    most = lexical[0][0] if lexical else 1
    for score, passage in lexical:
        scores[passage] = score / most
    chance = bits // 2
    spread = max(1, likeness[0][0] - chance) if likeness else 1
    for like, passage in likeness:
        if like > chance:
            scores[passage] = scores.get(passage, 0.0) + weight * ((like - chance) / spread)
    ranked = sorted((-score, passage) for passage, score in scores.items())
    return [(-negative, passage) for negative, passage in ranked]
