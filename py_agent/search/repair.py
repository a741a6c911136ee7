"""Typos: which word of the index a query word probably is.

Only words that the index lacks come here. The index holds, sorted, every word of its vocabulary and every string that
a word becomes when one letter is taken out of it (its variants). Words that one edit lies between share a variant, so
the few candidates are looked up. Two edits rarely both hit the beginning of a word, so those are looked for among the
words of the shards that were loaded anyway. The vocabulary is never searched.

A line of a typo shard is ``variant<TAB>entry entry ...``. An entry is the place (base 36) and the letter that were
taken out, or ``==`` where the variant is the word itself, and one digit: half the bits of how many passages hold it.
"""

from __future__ import annotations

from typing import NamedTuple

from rapidfuzz.distance import OSA

from py_agent.search.directory import Directory
from py_agent.search.shards import Shards
from py_agent.search.tokens import is_letters

#: Shorter words have too many neighbours: `gh` would become `git`.
MIN_REPAIR_CHARS = 4
#: Edits allowed from this many letters on (adjacent letters swapped count as one edit).
TWO_EDITS_CHARS = 7
#: Longer words have no variants in the index: nobody types them by heart.
MAX_REPAIR_CHARS = 32
#: Shards that one word may load: variants that begin alike lie side by side, so a word needs few.
MAX_TYPO_SHARDS = 8

PLACES = "0123456789abcdefghijklmnopqrstuvwxyz"
#: Stands for the place and letter of a word that is its own variant.
ITSELF = "=="


class Candidate(NamedTuple):
    """A word of the index and how common it is, 0 to 9."""

    word: str
    frequency: int


class TypoShard:
    """A parsed typo shard. ``words``: those that are their own variant in it.

    Raises:
        ValueError: The data is none.
    """

    def __init__(self, data: bytes) -> None:
        self._entries: dict[str, str] = {}
        self.words: list[Candidate] = []
        for line in data.decode().split("\n"):
            variant, entries = line.split("\t")
            self._entries[variant] = entries
            if entries.startswith(ITSELF):
                self.words.append(Candidate(variant, int(entries[2])))

    def get(self, variant: str) -> list[Candidate]:
        """The words that ``variant`` is a variant of."""
        found = []
        for entry in self._entries.get(variant, "").split():
            word = variant
            if not entry.startswith(ITSELF):
                at = PLACES.index(entry[0])
                word = variant[:at] + entry[1:-1] + variant[at:]
            found.append(Candidate(word, int(entry[-1])))
        return found


async def repair(term: str, directory: Directory, shards: Shards, *, name: bool = False) -> str | None:
    """The most likely word for ``term``, or None.

    Args:
        term: A folded word that the index lacks.
        directory, shards: The index.
        name: It is written like a name (a capital inside a sentence): only one edit is allowed then, because an unknown
            product is far more likely than a misspelt one.

    Raises:
        SearchIndexError: A shard cannot be loaded.
    """
    if not MIN_REPAIR_CHARS <= len(term) <= MAX_REPAIR_CHARS or not is_letters(term):
        return None
    limit = 1 if name or len(term) < TWO_EDITS_CHARS else 2
    by_shard: dict[int, list[str]] = {}
    deletions = variants(term)
    await directory.typos.reach(shards, keys=deletions)
    for variant in deletions:
        number = directory.typos.find(variant)
        if number is not None and (number in by_shard or len(by_shard) < MAX_TYPO_SHARDS):
            by_shard.setdefault(number, []).append(variant)
    best: tuple[int, bool, int, str] | None = None
    for number, wanted in by_shard.items():
        shard = await shards.load(directory.typos.name(number), TypoShard)
        candidates = {candidate for variant in wanted for candidate in shard.get(variant)}
        if limit > 1:
            candidates.update(word for word in shard.words if abs(len(word.word) - len(term)) <= limit)
        for candidate in candidates:
            distance = OSA.distance(term, candidate.word, score_cutoff=limit)
            if 0 < distance <= limit:
                # Nearest first; a wrong first letter is rarer than any other slip; then the commoner word.
                rank = (distance, candidate.word[0] != term[0], -candidate.frequency, candidate.word)
                best = rank if best is None or rank < best else best
    return best[3] if best else None


def variants(term: str) -> dict[str, int]:
    """What is left of ``term`` without one letter, with the first place that leaves it; and ``term``, with -1."""
    found = {term: -1}
    for at in range(len(term)):
        found.setdefault(term[:at] + term[at + 1 :], at)
    return found
