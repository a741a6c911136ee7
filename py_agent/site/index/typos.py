"""Typo shards: the words of a site and their variants, sorted."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

from py_agent.search.repair import ITSELF, MAX_REPAIR_CHARS, MIN_REPAIR_CHARS, PLACES, variants
from py_agent.search.tokens import is_letters

#: Words that have variants in the index, the commonest first: the rest of a huge vocabulary is names, hashes and typos
#: of the authors' own.
MAX_WORDS = 100_000
#: A typo shard's bytes, unpacked: packed it is a quarter.
SHARD_BYTES = 24_000


def typo_shards(frequency: Mapping[str, int]) -> list[tuple[str, bytes]]:
    """The contents of the shards, each with its first variant.

    Args:
        frequency: Number of passages that hold each term.
    """
    words = [term for term in frequency if MIN_REPAIR_CHARS - 1 <= len(term) <= MAX_REPAIR_CHARS and is_letters(term)]
    kept = heapq.nsmallest(MAX_WORDS, words, key=lambda word: (-frequency[word], word))
    entries: dict[str, list[str]] = {}
    for word in sorted(kept):
        digit = min(9, (frequency[word].bit_length() - 1) // 2)
        entries.setdefault(word, []).insert(0, f"{ITSELF}{digit}")
        for variant, at in variants(word).items():
            if at >= 0:
                entries.setdefault(variant, []).append(f"{PLACES[at]}{word[at]}{digit}")
    lines = (f"{variant}\t{' '.join(entries[variant])}" for variant in sorted(entries))
    return list(_shards(lines))


def _shards(lines: Iterator[str]) -> Iterator[tuple[str, bytes]]:
    part: list[str] = []
    filled = 0
    for line in lines:
        part.append(line)
        filled += len(line) + 1
        if filled >= SHARD_BYTES:
            yield part[0].partition("\t")[0], "\n".join(part).encode()
            part, filled = [], 0
    if part:
        yield part[0].partition("\t")[0], "\n".join(part).encode()
