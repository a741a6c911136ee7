"""How well what was found answers the query: which words it lacks, and how sure one may be.

A top score cannot tell: it is the best of what there is. What tells is the rarest word of the query that the best
passage does not hold. Who asks for the price of Kubernetes gets passages about prices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from py_agent.search.lexical import Found
from py_agent.search.postings import IDF_SCALE

#: What is left of confidence where the passage lacks a word that the index does not have either: not nothing, since
#: scores order the hits of such a query, too.
LEAST_SURE = 0.1


def missing_words(found: Sequence[Found], passages: Sequence[int]) -> list[str]:
    """The words of the query that none of ``passages`` holds."""
    return list(dict.fromkeys(one.word.text for one in found if not any(one.holds(passage) for passage in passages)))


def confidence(found: Sequence[Found], passage: int, passages: int, alike: float | None) -> float:
    """How sure one may be that ``passage`` answers the query, 0 to 1. It compares queries; it is no probability.

    Args:
        found: The words of the query.
        passage: The best one.
        passages: Of the index.
        alike: How much the best passage means what the query means, 0 (by chance) to 1; None: nobody knows.
    """
    rarest = round(IDF_SCALE * math.log(1 + (passages - 0.5) / 1.5)) or 1
    lack = max((_lack(one, passage, rarest) for one in found), default=rarest)
    sure = 1 - (1 - LEAST_SURE) * min(1.0, lack / rarest)
    return sure if alike is None else (sure + alike) / 2


def _lack(one: Found, passage: int, rarest: int) -> float:
    """How rare what ``passage`` lacks of a word is, in thousandths of idf; what the index lacks is ``rarest``."""
    known = {term.term: term for term in one.terms}
    own = {one.reading.get(term, term) for term in (*one.word.parts, *([one.word.whole] if one.word.whole else []))}
    whole = known.get(one.word.whole or "")
    if (whole and whole.holds(passage)) or any(term.holds(passage) for name, term in known.items() if name not in own):
        return 0
    lacks = []
    for part in one.word.parts:
        term = known.get(one.reading.get(part, part))
        lacks.append(rarest if term is None else 0 if term.holds(passage) else term.idf)
    # A script without spaces is cut into pairs, of which some stand across two words and mean nothing.
    return sum(lacks) / len(lacks) if one.word.whole is None else max(lacks)
