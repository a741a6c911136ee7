"""The directory of an index: which shard holds what, and what every query needs.

``directory-HASH.bin`` is packed JSON::

    fold      the fold table (search/fold.py)
    stop      words of queries that carry no content
    synonyms  {term: [terms that are searched as well]}
    notes     [[first, count]]: runs of passages from release notes
    same      base64 of a bit a passage: it has the same address as the one before
    shards    {kind: {"first": [...], "names": "..."}}
    semantic  what search/semantic.py needs, or null

Kinds: ``terms`` (first term of each shard), ``lists`` (long postings, by number), ``typos`` (first variant),
``texts`` (first passage), ``pages`` (first page), ``words`` (first word), ``codes`` (by cluster). ``names`` holds the
hashes of the shards' names, one behind the other.
"""

from __future__ import annotations

import base64
import json
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from py_agent.search.fold import Fold
from py_agent.search.semantic import SemanticInfo
from py_agent.search.shards import HASH_CHARS, shard_name


class ShardList:
    """The shards of one kind, in order of the first thing that each holds."""

    def __init__(self, kind: str, data: dict[str, Any]) -> None:
        self._kind = kind
        self.first: Sequence[Any] = data.get("first", ())
        self._names = str(data["names"])
        if len(self._names) % HASH_CHARS or (self.first and len(self.first) != len(self)):
            raise ValueError(f"the list of {kind} does not fit its names")

    def __len__(self) -> int:
        return len(self._names) // HASH_CHARS

    def name(self, number: int) -> str:
        """The file name of shard ``number``.

        Raises:
            IndexError: There are not so many.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"there is no {self._kind} shard {number}")
        return shard_name(self._kind, self._names[number * HASH_CHARS : (number + 1) * HASH_CHARS])

    def find(self, key: Any) -> int | None:
        """The number of the shard that holds ``key`` if any does; None: none can."""
        at = bisect_right(self.first, key) - 1
        return at if at >= 0 else None


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
