"""Typos: which word of the index a query word probably is.

Only words that the index lacks come here. Comparing such a word with the whole vocabulary would take too long in a
browser, so cheap filters (length, first letters, pairs of letters) leave a few dozen candidates for the real distance.
"""

from __future__ import annotations

from rapidfuzz.distance import OSA

from py_agent.search.files import Breathe, Terms

#: Shorter words have too many neighbours: `gh` would become `git`.
MIN_REPAIR_CHARS = 4
#: Edits allowed from this many letters on (adjacent letters swapped count as one edit).
TWO_EDITS_CHARS = 7
#: Candidates that get the exact distance: 60 of them cost about 5 ms in Pyodide.
MAX_CANDIDATES = 60


class Vocabulary:
    """The words of an index by length, read on the first typo."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._by_length: dict[int, list[str]] | None = None

    async def _lengths(self, breathe: Breathe) -> dict[int, list[str]]:
        if self._by_length is None:
            by_length: dict[int, list[str]] = {}
            for part in self._terms.slices():
                for term in part:
                    if term.isalpha():
                        by_length.setdefault(len(term), []).append(term)
                await breathe()
            self._by_length = by_length
        return self._by_length

    async def repair(self, term: str, breathe: Breathe, *, name: bool = False) -> str | None:
        """The most likely word for ``term``, or None.

        Args:
            term: A folded word that the index lacks.
            name: It is written like a name (a capital inside a sentence): only one edit is allowed then, because an
                unknown product is far more likely than a misspelt one.
        """
        if len(term) < MIN_REPAIR_CHARS or not term.isalpha():
            return None
        limit = 1 if name or len(term) < TWO_EDITS_CHARS else 2
        lengths = await self._lengths(breathe)
        pairs = _pairs(term)
        heads = {term[0], term[1]}
        candidates: list[tuple[int, str]] = []
        for length in range(len(term) - limit, len(term) + limit + 1):
            for candidate in lengths.get(length, ()):
                if candidate[0] in heads or candidate[1] == term[0]:
                    common = len(pairs & _pairs(candidate))
                    if common:
                        candidates.append((-common, candidate))
            await breathe()
        candidates.sort()
        best: tuple[int, int, int, str] | None = None
        for _, candidate in candidates[:MAX_CANDIDATES]:
            distance = OSA.distance(term, candidate, score_cutoff=limit)
            if distance <= limit:
                # Nearest first; a wrong first letter is rarer than any other slip; then the commoner word.
                frequency = len(self._terms.postings(candidate))
                rank = (distance, candidate[0] != term[0], -frequency, candidate)
                best = rank if best is None or rank < best else best
        return best[3] if best else None


def _pairs(term: str) -> set[str]:
    return {term[i : i + 2] for i in range(len(term) - 1)} | {term[0], term[-1] + "$"}
