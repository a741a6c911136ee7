"""The directory of an index: which shard holds what, and what every query needs.

``directory-HASH.bin`` is packed JSON::

    fold      the fold table (search/fold.py)
    stop      words of queries that carry no content
    synonyms  {term: [terms that are searched as well]}
    notes     [[first, count]]: runs of passages from release notes
    same      base64 of a bit a passage: it has the same address as the one before
    shards    {kind: {"first": [...], "names": "..."}}, of a large site {kind: {..., "count": ..., "each": ...}}
    semantic  what search/semantic.py needs, or null

Kinds: ``terms`` (first term of each shard), ``lists`` (long postings, by number), ``typos`` (first variant),
``texts`` (first passage), ``pages`` (first page), ``words`` (first word), ``codes`` (by cluster). ``names`` holds the
hashes of the shards' names, one behind the other.

A kind with more shards than a reader should load the names of is listed in catalogs: ``count`` is the number of shards,
``each`` how many of them a catalog lists, and ``first`` and ``names`` are those of the catalogs. A catalog is a shard
(``catalogs-HASH.bin``) of packed JSON with the ``first`` and ``names`` of its part. A query loads the catalogs that it
needs with ``reach``; where there are none, ``reach`` does nothing.
"""

from __future__ import annotations

import asyncio
import base64
import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from py_agent.search.fold import Fold
from py_agent.search.semantic import SemanticInfo
from py_agent.search.shards import HASH_CHARS, Shards, shard_name


class ShardList:
    """The shards of one kind, in order of the first thing that each holds.

    Raises:
        ValueError, KeyError, TypeError: The data is no such list.
    """

    def __init__(self, kind: str, data: dict[str, Any]) -> None:
        self._kind = kind
        self._first: Sequence[Any] = data.get("first", ())
        self._names = str(data["names"])
        self._each = int(data.get("each", 0))
        self._catalogs: dict[int, ShardList] = {}
        entries = len(self._names) // HASH_CHARS
        self._count = int(data["count"]) if self._each else entries
        fits = not self._each or (self._each > 0 and entries == -(-self._count // self._each))
        if len(self._names) % HASH_CHARS or (self._first and len(self._first) != entries) or not fits:
            raise ValueError(f"the list of {kind} does not fit its names")

    def __len__(self) -> int:
        return self._count

    async def reach(self, shards: Shards, *, keys: Iterable[Any] = (), numbers: Iterable[int] = ()) -> None:
        """Loads the catalogs that ``find`` needs for ``keys``, and the other methods for ``numbers``.

        Raises:
            SearchIndexError: One cannot be loaded.
        """
        if self._each:
            wanted = {at for key in keys if (at := bisect_right(self._first, key) - 1) >= 0}
            wanted.update(number // self._each for number in numbers if 0 <= number < self._count)
            await asyncio.gather(*(self._load(at, shards) for at in sorted(wanted.difference(self._catalogs))))

    async def _load(self, at: int, shards: Shards) -> None:
        self._catalogs[at] = await shards.load(self._entry("catalogs", at), partial(self._catalog, at))

    def _catalog(self, at: int, data: bytes) -> ShardList:
        catalog = ShardList(self._kind, json.loads(data))
        if len(catalog) != min(self._each, self._count - at * self._each):
            raise ValueError(f"a catalog of {self._kind} of another length")
        return catalog

    def name(self, number: int) -> str:
        """The file name of shard ``number``.

        Raises:
            IndexError: There are not so many.
        """
        if not 0 <= number < self._count:
            raise IndexError(f"there is no {self._kind} shard {number}")
        if self._each:
            return self._catalogs[number // self._each].name(number % self._each)
        return self._entry(self._kind, number)

    def _entry(self, kind: str, at: int) -> str:
        return shard_name(kind, self._names[at * HASH_CHARS : (at + 1) * HASH_CHARS])

    def starts(self, number: int) -> Any:
        """The first thing in shard ``number``."""
        if self._each:
            return self._catalogs[number // self._each].starts(number % self._each)
        return self._first[number]

    def find(self, key: Any) -> int | None:
        """The number of the shard that holds ``key`` if any does; None: none can."""
        at = bisect_right(self._first, key) - 1
        if at < 0:
            return None
        if not self._each:
            return at
        below = self._catalogs[at].find(key)
        return None if below is None else at * self._each + below


class Directory:
    """A parsed directory.

    Raises:
        ValueError, KeyError, TypeError: The data is none.
    """

    def __init__(self, data: bytes) -> None:
        parsed = json.loads(data)
        self.fold = Fold.of_table(parsed["fold"])
        self.stop_words = frozenset(parsed["stop"])
        self.synonyms: dict[str, list[str]] = parsed["synonyms"]
        shards = parsed["shards"]
        none: dict[str, Any] = {"names": ""}
        self.terms = ShardList("terms", shards["terms"])
        self.lists = ShardList("lists", shards.get("lists", none))
        self.typos = ShardList("typos", shards.get("typos", none))
        self.texts = ShardList("texts", shards["texts"])
        self.pages = ShardList("pages", shards["pages"])
        self.words = ShardList("words", shards.get("words", none))
        self.codes = ShardList("codes", shards.get("codes", none))
        semantic = parsed["semantic"]
        self.semantic = SemanticInfo(semantic) if semantic is not None else None
        self._same = base64.b64decode(parsed["same"])
        self._notes: list[int] = [int(first) for first, _ in parsed["notes"]]
        self._notes_end: list[int] = [int(first) + int(count) for first, count in parsed["notes"]]

    def place(self, passage: int) -> int:
        """The first passage of those in a row that have the same address as ``passage``."""
        while 0 < passage < 8 * len(self._same) and self._same[passage >> 3] >> (passage & 7) & 1:
            passage -= 1
        return passage

    def is_notes(self, passage: int) -> bool:
        """Whether ``passage`` stands in release notes."""
        at = bisect_right(self._notes, passage) - 1
        return at >= 0 and passage < self._notes_end[at]
