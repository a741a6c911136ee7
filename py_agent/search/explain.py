"""Why a passage ranks where it does."""

from __future__ import annotations

from collections.abc import Iterable

from py_agent.model.base import Record
from py_agent.search.fusion import Ranked
from py_agent.search.lexical import COVERED, HEADING_FIFTHS, WHOLE, Found, impact_in
from py_agent.search.postings import IDF_SCALE


class TermShare(Record):
    """What one term gives a passage.

    Attributes:
        word: The query's word.
        term: The term of the index that it became.
        weight: Of the term among those of the word, 0 to 1.
        idf: How rare the term is: natural logarithm.
        impact: How much of the passage it is, 1 to 255; 0: the passage does not hold it.
        heading: It stands in the passage's heading.
        points: What it adds.
    """

    word: str
    term: str
    weight: float
    idf: float
    impact: int
    heading: bool
    points: int


class Explanation(Record):
    """How a passage's place comes about: the points of its terms, times what its heading adds, as a share of the best
    passage's, and its meaning.

    Attributes:
        terms: What each term gives.
        points: Their sum.
        covered: Share of the heading's terms that the query holds, 0 to 1.
        boost: What the points are multiplied by for it.
        score: The product.
        words: Its share of the best passage's score, 0 to 1; 0, too, for what is not among the best.
        meaning: What is added for being more like the query in meaning than others are.
        missing: Words of the query that the passage does not hold.
    """

    terms: tuple[TermShare, ...]
    points: int
    covered: float
    boost: float
    score: float
    words: float
    meaning: float
    missing: tuple[str, ...]


def explain(found: Iterable[Found], ranked: Ranked) -> Explanation:
    """The explanation of a passage."""
    passage = ranked.passage
    shares: list[TermShare] = []
    missing: list[str] = []
    covered = 0
    for one in found:
        heading = 0
        for term in one.terms:
            impact, heads = impact_in(term, passage) or (0, 0)
            heading = heads or heading
            shares.append(
                TermShare(
                    word=one.word.text,
                    term=term.term,
                    weight=term.weight / WHOLE,
                    idf=round(term.idf / IDF_SCALE, 3),
                    impact=impact,
                    heading=bool(heads),
                    points=term.scale * impact,
                )
            )
        covered += COVERED // heading if heading else 0
        if not one.holds(passage):
            missing.append(one.word.text)
    points = sum(share.points for share in shares)
    share = min(COVERED, covered) / COVERED
    boost = 1 + HEADING_FIFTHS / 5 * share
    return Explanation(
        terms=tuple(shares),
        points=points,
        covered=round(share, 3),
        boost=round(boost, 3),
        score=round(points * boost, 1),
        words=round(ranked.words, 3),
        meaning=round(ranked.meaning, 3),
        missing=tuple(missing),
    )
