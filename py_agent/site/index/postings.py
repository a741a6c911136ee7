"""Term shards: BM25F impacts of every term in every passage, computed once so that queries only add up."""

from __future__ import annotations

import heapq
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
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


class _Counted(NamedTuple):
    """What the fields of one passage hold: ``text`` as ids and counts, the others by their (shared) counters."""

    fields: tuple[tuple[str, Counter[int], int], ...]
    start: int
    end: int
    length: int


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
    ids: dict[str, int] = {}
    flat_terms, flat_counts = array("I"), array("H")

    def id_of(term: str) -> int:
        return ids.setdefault(term, len(ids))

    @lru_cache(maxsize=65_536)
    def counter(text: str) -> tuple[Counter[int], int]:
        found = Counter(map(id_of, tokenizer.terms(text)))
        return found, sum(found.values())

    counted: list[_Counted] = []
    for page, piece in rows:
        leaf = piece.path[-1] if piece.path else page.title
        fields = [("heading", leaf), ("path", "\n".join(piece.path[:-1])), ("title", page.title)]
        start = len(flat_terms)
        text = Counter(map(id_of, tokenizer.terms(piece.text)))
        flat_terms.extend(text.keys())
        flat_counts.extend(min(count, 0xFFFF) for count in text.values())
        shared = tuple((name, *counter(value)) for name, value in fields)
        counted.append(_Counted(shared, start, len(flat_terms), sum(text.values())))
        if progress:
            progress()
    averages = {"text": sum(one.length for one in counted) / len(counted)}
    for at, name in enumerate(("heading", "path", "title")):
        averages[name] = sum(one.fields[at][2] for one in counted) / len(counted)

    passages = [array("I") for _ in ids]
    impacts = [bytearray() for _ in ids]
    headings: dict[int, bytearray] = {}
    for number, ((page, _), one) in enumerate(zip(rows, counted, strict=True)):
        factor = NOTES_FACTOR if is_notes(page) else 1.0
        scale = _scale("text", one.length, averages)
        pairs = zip(flat_terms[one.start : one.end], flat_counts[one.start : one.end], strict=True)
        weights = {term: scale * count for term, count in pairs}
        for name, counts, length in one.fields:
            scale = _scale(name, length, averages)
            for term, count in counts.items():
                weights[term] = weights.get(term, 0.0) + scale * count
        heads = one.fields[0][1]
        for term, weight in weights.items():
            passages[term].append(number)
            impacts[term].append(max(1, round(factor * MAX_IMPACT * weight / (K1 + weight))))
            if term in heads:
                column = headings.setdefault(term, bytearray())
                column.extend(bytes(len(passages[term]) - 1 - len(column)))
                column.append(min(255, len(heads)))
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
