"""Term shards: BM25F impacts of every term in every passage, computed once so that queries only add up."""

from __future__ import annotations

import heapq
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from py_agent.search.postings import IDF_SCALE, MAX_IMPACT, Postings, encode, encode_shard, long_slice
from py_agent.search.tokens import Tokenizer
from py_agent.site.chunk import Piece
from py_agent.site.read import Page

#: BM25F weight of each field: a word in the leaf heading says more than one in the text.
WEIGHTS = {"heading": 3.0, "path": 1.0, "title": 1.0, "text": 1.0}
#: Saturation of a word's weight, and how much the length of a field counts (low: long passages are cut anyway).
K1 = 1.2
B = 0.4
#: Release notes mention everything and explain nothing: their share of an impact.
NOTES_FACTOR = 0.5
#: Passages kept for one term, those with the greatest impact: a word that stands in more tells little of any of them,
#: and a query must not load and add up half a million.
MAX_POSTINGS = 16_384
#: Longer slices get a shard of their own, so that the terms around them stay cheap.
LONG_BYTES = 8_192
#: A term shard's bytes, unpacked: a query loads one a word, of which it wants one term.
SHARD_BYTES = 10_000

Rows = Sequence[tuple[Page, Piece]]


class Vocabulary(NamedTuple):
    """Every term of a site.

    Attributes:
        terms: Sorted by their bytes.
        frequency: Number of passages that hold each.
        shards: Contents of the term shards, each with its first term.
        lists: Contents of the list shards.
    """

    terms: list[str]
    frequency: dict[str, int]
    shards: list[tuple[str, bytes]]
    lists: list[bytes]


class _Counts:
    """What terms stand in texts, and how often: numbers in flat arrays, since a large site has tens of millions."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.ids: dict[str, int] = {}
        self.lengths = array("I")
        self._tokenizer = tokenizer
        self._terms, self._counts, self._ends = array("I"), array("H"), array("Q", [0])
        self._rows: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Counts ``text``; returns the number of its row."""
        ids = self.ids
        found = Counter(ids.setdefault(term, len(ids)) for term in self._tokenizer.terms(text))
        self._terms.extend(found.keys())
        self._counts.extend(min(count, 0xFFFF) for count in found.values())
        self._ends.append(len(self._terms))
        self.lengths.append(sum(found.values()))
        return len(self.lengths) - 1

    def add_once(self, text: str) -> int:
        """The row of ``text``, which many passages share."""
        row = self._rows.get(text)
        if row is None:
            row = self._rows[text] = self.add(text)
        return row

    def row(self, number: int) -> Iterator[tuple[int, int]]:
        """The ids of the terms of a text, and their counts."""
        start, end = self._ends[number], self._ends[number + 1]
        return zip(self._terms[start:end], self._counts[start:end], strict=True)


def vocabulary(
    rows: Rows, tokenizer: Tokenizer, is_notes: Callable[[Page], bool], progress: Callable[[], None] | None = None
) -> Vocabulary:
    """Counts, weighs and packs the terms of ``rows``.

    Args:
        rows: The passages in the index's order, each with its page.
        tokenizer: Splits by the table that the index ships.
        is_notes: Whether a page is release notes.
        progress: Called once a passage.
    """
    counts = _Counts(tokenizer)
    # Of each passage: the rows of its fields, in the order of WEIGHTS.
    fields = array("I")
    for page, piece in rows:
        leaf = piece.path[-1] if piece.path else page.title
        shared = (leaf, "\n".join(piece.path[:-1]), page.title)
        fields.extend((*map(counts.add_once, shared), counts.add(piece.text)))
        if progress:
            progress()
    averages = {
        name: sum(counts.lengths[row] for row in fields[at :: len(WEIGHTS)]) / len(rows)
        for at, name in enumerate(WEIGHTS)
    }

    passages = [array("I") for _ in counts.ids]
    impacts = [bytearray() for _ in counts.ids]
    headings: dict[int, bytearray] = {}
    for number, (page, _) in enumerate(rows):
        factor = NOTES_FACTOR if is_notes(page) else 1.0
        heading, path, title, text = fields[len(WEIGHTS) * number : len(WEIGHTS) * (number + 1)]
        weights: dict[int, float] = {}
        for name, row in (("text", text), ("heading", heading), ("path", path), ("title", title)):
            scale = _scale(name, counts.lengths[row], averages)
            for term, count in counts.row(row):
                weights[term] = weights.get(term, 0.0) + scale * count
        heads = {term for term, _ in counts.row(heading)}
        for term, weight in weights.items():
            passages[term].append(number)
            impacts[term].append(max(1, round(factor * MAX_IMPACT * weight / (K1 + weight))))
            if term in heads:
                column = headings.setdefault(term, bytearray())
                column.extend(bytes(len(passages[term]) - 1 - len(column)))
                column.append(min(255, len(heads)))
    ids = counts.ids
    del counts, fields
    return _pack(ids, passages, impacts, headings, len(rows))


def _scale(field: str, length: int, averages: dict[str, float]) -> float:
    return WEIGHTS[field] / (1 - B + B * length / (averages[field] or 1.0))


def _pack(
    ids: dict[str, int],
    passages: list[array[int]],
    impacts: list[bytearray],
    headings: dict[int, bytearray],
    total: int,
) -> Vocabulary:
    lists: list[bytes] = []
    rows: list[tuple[str, int, bytes]] = []
    frequency: dict[str, int] = {}
    for term in sorted(ids):
        number = ids[term]
        found = len(passages[number])
        frequency[term] = found
        column = headings.get(number)
        if column is not None:
            column.extend(bytes(found - len(column)))
        data = encode(_pruned(Postings(passages[number], bytes(impacts[number]), bytes(column or b""))))
        if len(data) > LONG_BYTES:
            lists.append(data)
            data = long_slice(len(lists) - 1)
        idf = round(IDF_SCALE * math.log(1 + (total - found + 0.5) / (found + 0.5)))
        rows.append((term, idf, data))
    shards = [(part[0][0], encode_shard(part)) for part in _parts(rows)]
    return Vocabulary(list(frequency), frequency, shards, lists)


def _pruned(postings: Postings) -> Postings:
    if len(postings.passages) <= MAX_POSTINGS:
        return postings
    by_impact = ((impact, -at) for at, impact in enumerate(postings.impacts))
    kept = sorted(-at for _, at in heapq.nlargest(MAX_POSTINGS, by_impact))
    return Postings(
        [postings.passages[at] for at in kept],
        bytes(postings.impacts[at] for at in kept),
        bytes(postings.headings[at] for at in kept) if postings.headings else b"",
    )


def _parts(rows: Iterable[tuple[str, int, bytes]]) -> Iterator[list[tuple[str, int, bytes]]]:
    part: list[tuple[str, int, bytes]] = []
    filled = 0
    for row in rows:
        part.append(row)
        filled += len(row[0]) + 7 + len(row[2])
        if filled >= SHARD_BYTES:
            yield part
            part, filled = [], 0
    if part:
        yield part
