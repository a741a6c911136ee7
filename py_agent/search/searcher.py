"""An opened index: looks a query up, ranks, and loads what the best passages say."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Sequence
from functools import partial

from py_agent.model.errors import SearchIndexError
from py_agent.model.passage import Passage
from py_agent.search.base import Hit, Page, SearchResult
from py_agent.search.directory import Directory
from py_agent.search.evidence import confidence, missing_words
from py_agent.search.explain import Explanation, explain
from py_agent.search.fusion import CANDIDATES, Meaning, Ranked, Weights, fuse
from py_agent.search.lexical import Found, Lexicon, potential
from py_agent.search.manifest import REBUILD, Manifest, parse_manifest
from py_agent.search.query import QueryWord, read_query
from py_agent.search.shards import Breathe, Fetch, Shards, unpack
from py_agent.search.texts import PageRow, TextShard, passage_id, passage_number, read_pages
from py_agent.search.tokens import Tokenizer

#: How many results of one query may come from release notes: they mention everything and explain nothing.
MAX_NOTES = 2
#: Scores are whole millionths: enough to order by.
SCORE_STEPS = 1_000_000
#: Candidates that are ranked for each result wanted: some share an address, some are release notes.
SPARE_CANDIDATES = 20


class IndexSearcher:
    """An opened index; ``py_agent.search.base.Searcher`` says what the methods do.

    Raises:
        SearchIndexError: From any method: ``missing``, ``offline`` or ``damaged``, naming the shard.
    """

    def __init__(self, manifest: Manifest, directory: Directory, shards: Shards, breathe: Breathe) -> None:
        self.manifest = manifest
        #: Others are for measuring them.
        self.weights = Weights()
        self._directory = directory
        self._shards = shards
        self._tokenizer = Tokenizer(directory.fold)
        self._lexicon = Lexicon(directory, shards, breathe)
        semantic = directory.semantic
        self._meaning = Meaning(semantic, directory, shards, breathe) if semantic is not None else None
        # What was given away is asked for again when it is quoted, and then must not need the network.
        self._given: dict[int, Passage] = {}

    async def search(self, query: str, top: int = 5, *, unfinished: bool = False) -> SearchResult:
        """Ranks passages for ``query``; ``unfinished``: its last word may go on."""
        words = self._read(query)
        unfinished = unfinished and bool(words) and query.endswith(words[-1].text)
        found = await self._lexicon.find(words, unfinished=unfinished)
        ranked, alike = await self._rank(found, top)
        numbers = [one.passage for one in ranked]
        sure = confidence(found, numbers[0], self.manifest.passages, alike) if numbers else 0.0
        passages = await self._load(numbers)
        hits = tuple(
            Hit(passage=passage, score=_rounded(sure * one.score / ranked[0].score))
            for one, passage in zip(ranked, passages, strict=True)
        )
        repaired = {term: better for one in found for term, better in one.reading.items()}
        return SearchResult(query=query, hits=hits, missing=tuple(missing_words(found, numbers)), repaired=repaired)

    def _read(self, query: str) -> list[QueryWord]:
        return read_query(query, self._tokenizer, self._directory.stop_words)

    async def _rank(self, found: Sequence[Found], top: int) -> tuple[list[Ranked], float | None]:
        """The best passages, one an address, and how much the first means what the query means."""
        candidates, likeness = await self._candidates(found, top)
        chosen: list[Ranked] = []
        addresses: set[str] = set()
        places: set[int] = set()
        notes = 0
        waiting = deque(candidates)
        while waiting and len(chosen) < top:
            # As many at once as are still wanted: their shards load side by side.
            batch: list[Ranked] = []
            while waiting and len(chosen) + len(batch) < top:
                one = waiting.popleft()
                place = self._directory.place(one.passage)
                noted = self._directory.is_notes(one.passage)
                if place in places or (noted and notes == MAX_NOTES):
                    continue
                places.add(place)
                notes += noted
                batch.append(one)
            for one, passage in zip(batch, await self._load([one.passage for one in batch]), strict=True):
                if passage.url not in addresses:
                    addresses.add(passage.url)
                    chosen.append(one)
        if self._meaning is None or not chosen:
            return chosen, None
        half = self._meaning.info.bits // 2
        like = next((like for like, passage in likeness if passage == chosen[0].passage), half)
        return chosen, max(0.0, (like - half) / half)

    async def _candidates(self, found: Sequence[Found], top: int) -> tuple[list[Ranked], list[tuple[int, int]]]:
        scores, likeness = await asyncio.gather(self._lexicon.add_up(found), self._likeness(found))
        lexical = scores.best(max(CANDIDATES, top * SPARE_CANDIDATES))
        if self._meaning is None:
            return fuse(lexical, [], 0, 0.0), []
        weight = self.weights.name if any(one.word.name for one in found) else self.weights.meaning
        whole = self.weights.strong * potential(found)
        return fuse(lexical, likeness, self._meaning.info.bits, weight, whole), likeness

    async def _likeness(self, found: Sequence[Found]) -> list[tuple[int, int]]:
        return await self._meaning.likeness(found) if self._meaning else []

    async def explain(self, query: str, passage: str) -> Explanation:
        """Why ``passage`` ranks where it does for ``query``.

        Raises:
            KeyError: The index has no such passage.
        """
        number = self._number(passage)
        found = await self._lexicon.find(self._read(query))
        candidates, _ = await self._candidates(found, 1)
        return explain(found, next((one for one in candidates if one.passage == number), Ranked(number, 0.0, 0.0)))

    async def passage(self, passage_id: str) -> Passage:
        """The passage with this id.

        Raises:
            KeyError: The index has no such passage.
        """
        return (await self._load([self._number(passage_id)]))[0]

    async def page(self, page: str) -> tuple[Passage, ...]:
        """The passages of one page in reading order; empty if the index has no such page."""
        await self._directory.pages.reach(self._shards, keys=[page])
        shard = self._directory.pages.find(page)
        rows = await self._pages(shard) if shard is not None else []
        for row in rows:
            if row.page == page:
                return tuple(await self._load(range(row.first, row.first + row.passages)))
        return ()

    async def pages(self) -> Sequence[Page]:
        """All pages, sorted by their path."""
        shards = await asyncio.gather(*(self._pages(number) for number in range(len(self._directory.pages))))
        return [Page(page=row.page, title=row.title) for rows in shards for row in rows]

    def _number(self, passage_id: str) -> int:
        number = passage_number(passage_id)
        if number is None or number >= self.manifest.passages:
            raise KeyError(passage_id)
        return number

    async def _pages(self, shard: int) -> list[PageRow]:
        await self._directory.pages.reach(self._shards, numbers=[shard])
        return await self._shards.load(self._directory.pages.name(shard), read_pages)

    async def _load(self, numbers: Sequence[int]) -> list[Passage]:
        return list(await asyncio.gather(*(self._passage(number) for number in numbers)))

    async def _passage(self, number: int) -> Passage:
        if number not in self._given:
            await self._directory.texts.reach(self._shards, keys=[number])
            shard = self._directory.texts.find(number)
            if shard is None or number >= self.manifest.passages:
                raise SearchIndexError(
                    f"The index is damaged: a word names passage {passage_id(number)}, which is not there.",
                    hint=REBUILD,
                    code="damaged",
                )
            parse = partial(TextShard, first=int(self._directory.texts.starts(shard)))
            name = self._directory.texts.name(shard)
            texts = await self._shards.load(name, parse)
            try:
                self._given[number] = texts.get(number)
            except (IndexError, ValueError, KeyError, TypeError) as error:
                raise SearchIndexError(
                    f"{name} is damaged: passage {passage_id(number)} cannot be read.", hint=REBUILD, code="damaged"
                ) from error
        return self._given[number]


async def open_index(
    manifest: bytes, fetch: Fetch, *, where: str = "manifest.json", breathe: Breathe | None = None
) -> IndexSearcher:
    """Opens an index.

    Args:
        manifest: The bytes of ``manifest.json``.
        fetch: Gets the index's other files by name.
        where: The manifest's address, for errors.
        breathe: Awaited between slices of work; gives the event loop its turn. Default: ``asyncio.sleep(0)``.

    Raises:
        SearchIndexError: ``missing``, ``offline``, ``damaged``, ``format``.
    """
    checked = parse_manifest(manifest, where)
    content = unpack(checked.directory, await fetch(checked.directory))
    try:
        directory = Directory(content)
    except (ValueError, KeyError, TypeError) as error:
        raise SearchIndexError(f"{checked.directory} is damaged: {error}.", hint=REBUILD, code="damaged") from error
    return IndexSearcher(checked, directory, Shards(fetch), breathe or _sleep)


async def _sleep() -> None:
    await asyncio.sleep(0)


def _rounded(score: float) -> float:
    """As every reader of an index rounds: ``round`` of Python and of JavaScript differ."""
    return math.floor(score * SCORE_STEPS + 0.5) / SCORE_STEPS
