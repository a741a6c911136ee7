"""Weighs evidence against a question: which passages fit it best, and whether they speak of it at all.

Nothing here knows a word of any documentation. A word weighs by how rare it is among the passages shown and by whether
it looks like a name in a program.
"""

from __future__ import annotations

import asyncio
import math
import re
from dataclasses import dataclass
from itertools import pairwise

from py_agent.engines.evidence import Evidence, SeenPassage
from py_agent.search.stopwords import STOP_WORDS
from py_agent.search.tokens import terms, words

#: A name in a program (``url_prefix``, ``--amend``, ``HTTPServer``) says more than a word of the language.
IDENTIFIER_WEIGHT = 2.0
#: What the search's order is worth against what can be counted here: it knows the rarity of words in the whole index.
RANK_WEIGHT = 1.0
#: What the words of the question that a passage holds are worth, ...
COVERAGE_WEIGHT = 1.0
#: ... once more those that its headings hold: a heading says what a passage is about, ...
HEADING_WEIGHT = 0.5
#: ... and those that stand side by side in both: "secret key" is not "secret" and "key".
PAIR_WEIGHT = 0.5
#: Share of the question's words that the passages must hold together, else they are about something else.
MIN_COVERAGE = 0.5
#: Letters that two forms of one word have in common at least, at their beginning.
SAME_START = 4

# Written like a name in a program: digits or signs inside, capitals inside, an option, an abbreviation.
_IDENTIFIER = re.compile(r"\w[.:@]\w|_|[a-z][A-Z]|[A-Z]{2}|\d[a-z]|[a-z]\d|[+#]$")
_PIECE = re.compile(r"[^\W_]+")
_VERSION = re.compile(r"v?\d")
_OPTION = re.compile(r"(?<!\w)--?[A-Za-z][\w-]*")
_ERROR = re.compile(r"(?:Error|Exception|Warning)$")
_VOWEL = re.compile(r"[aeiouyäöüáéíóúàèìòùâêîôû]", re.IGNORECASE)


@dataclass(frozen=True)
class Word:
    """A content word of the question.

    Attributes:
        typed: As the reader wrote it.
        terms: What to look for: the word as one piece, or what the search made of a typo.
        parts: Its pieces; all of them together count as the word.
        identifier: It looks like a name in a program.
        name: It looks like the name of a thing or product: without it there is no answer.
        product: It is a name of several pieces, written as one.
        ordered: The pieces in their order.
    """

    typed: str
    terms: frozenset[str]
    parts: frozenset[str]
    identifier: bool
    name: bool
    product: bool = False
    ordered: tuple[str, ...] = ()

    def within(self, found: Terms) -> bool:
        """Whether a text with these terms holds the word, or a form of it."""
        if self.terms & found.all or (self.parts and self.parts <= found.all):
            return True
        if self.identifier:
            return False
        return any(same_word(term, other) for term in self.terms for other in found.like(term))


class Terms:
    """The terms of a text, by their beginnings too: forms of a word begin alike."""

    def __init__(self, text: str) -> None:
        found = terms(text)
        self.count = len(found)
        self.all = frozenset(found)
        self._by_start: dict[str, list[str]] = {}
        for term in self.all:
            self._by_start.setdefault(term[:SAME_START], []).append(term)

    def like(self, term: str) -> list[str]:
        """The terms that begin as ``term`` does."""
        return self._by_start.get(term[:SAME_START], []) if len(term) >= SAME_START else []


def same_word(one: str, other: str) -> bool:
    """Whether two words are forms of one: they share all but a short ending."""
    if one == other:
        return True
    if one[:SAME_START] != other[:SAME_START] or len(one) < SAME_START:
        return False
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    longest = max(len(one), len(other))
    return longest - shared <= 3 and shared / longest >= 0.6


def question_words(evidence: Evidence) -> list[Word]:
    """The content words of the question, with what the search made of their typos."""
    question = evidence.question
    options = {match.lstrip("-") for match in _OPTION.findall(question)}
    found: dict[str, Word] = {}
    at = 0
    every = words(question)
    for word in [word for word in every if word.text.casefold() not in STOP_WORDS] or every:
        at = max(question.find(word.text, at), at)
        before, after = question[:at].rstrip(), question[at + len(word.text) :]
        # A capital opens a sentence; a word before a colon is a label: neither makes a name. Nor do errors that a
        # reader pastes: the docs of a program rarely list those of its language.
        inside = before != "" and before[-1] not in ".!?:"
        label = after.startswith(":") or _ERROR.search(word.text) is not None
        pieces = _PIECE.findall(word.text)
        capital = word.text[0].isupper() and (inside or any(piece[0].isupper() for piece in pieces[1:]))
        identifier = word.text in options or (
            _IDENTIFIER.search(word.text) is not None and any(len(piece) > 1 for piece in pieces)
        )
        abbreviation = word.text.isalpha() and word.text.isascii() and _VOWEL.search(word.text) is None
        parts = tuple(evidence.repaired.get(part, part) for part in word.parts)
        found.setdefault(
            word.text.casefold(),
            Word(
                typed=word.text,
                terms=frozenset({word.whole or parts[0], "".join(parts)}),
                parts=frozenset(parts) if len(parts) > 1 else frozenset(),
                identifier=identifier and not label,
                name=(capital or identifier or abbreviation) and not label and _VERSION.match(word.text) is None,
                product=capital and len(parts) > 1 and not label,
                ordered=parts,
            ),
        )
    return list(found.values())


class Weights:
    """What each word of the question weighs, given the passages shown. Make one with ``weigh``."""

    def __init__(self, question: str, found: list[Word]) -> None:
        self.words = found
        self.weight: dict[str, float] = {}
        self.total = 1.0
        self._texts: dict[str, Terms] = {}
        self._pairs = _pairs(question)
        self._text_pairs: dict[str, set[tuple[str, str]]] = {}

    @classmethod
    async def weigh(cls, evidence: Evidence) -> Weights:
        """Reads the passages, giving the event loop its turn after each: a long one takes some milliseconds."""
        weights = cls(evidence.question, question_words(evidence))
        for passage in evidence.passages.values():
            text = f"{passage.heading}\n{passage.text}"
            weights._texts[passage.id] = Terms(text)
            weights._text_pairs[passage.id] = _pairs(text)
            await asyncio.sleep(0)
        weights._settle(len(evidence.passages))
        return weights

    def _settle(self, count: int) -> None:
        for word in self.words:
            holding = sum(word.within(text) for text in self._texts.values())
            # An absent word counts as if one passage held it: what is missing must not outweigh all that is there.
            rarity = math.log(1 + (count + 1) / (max(holding, 1) + 0.5))
            self.weight[word.typed] = rarity * (IDENTIFIER_WEIGHT if word.identifier else 1.0)
        self.total = sum(self.weight.values()) or 1.0

    def coverage(self, found: Terms) -> float:
        """The share of the question's weight that a text with these terms holds, 0 to 1."""
        return sum(self.weight[word.typed] for word in self.words if word.within(found)) / self.total

    def of(self, passage: SeenPassage) -> float:
        """The share that a passage holds, with its headings."""
        return self.coverage(self._texts[passage.id])

    def together(self) -> float:
        """The share of the question's words that stand in any passage; rarity says nothing about an absent word."""
        held = [self.anywhere(word) for word in self.words]
        return sum(held) / len(held) if held else 0.0

    def anywhere(self, word: Word) -> bool:
        """Whether any passage holds the word."""
        return any(word.within(text) for text in self._texts.values())

    def nowhere(self, word: Word) -> bool:
        """Whether a word that is written in one piece stands in no passage in one piece, nor its parts side by side."""
        parts = list(pairwise(word.ordered))
        return not any(word.terms & text.all for text in self._texts.values()) and not any(
            all(pair in pairs for pair in parts) for pairs in self._text_pairs.values()
        )

    def pairs(self, passage: SeenPassage) -> float:
        """The share of the question's neighbouring words that are neighbours in the passage too, 0 to 1."""
        return len(self._pairs & self._text_pairs[passage.id]) / len(self._pairs) if self._pairs else 0.0


def _pairs(text: str) -> set[tuple[str, str]]:
    found = [word for word in words(text) if word.whole is not None]
    return {
        (str(one.whole), str(other.whole))
        for one, other in pairwise(found)
        if one.text.casefold() not in STOP_WORDS and other.text.casefold() not in STOP_WORDS
    }


def lacking(evidence: Evidence, weights: Weights) -> list[str]:
    """The words for whose lack the question cannot be answered; empty if it may be.

    A name that stands nowhere in the evidence is what the question is about; an ordinary word may have a synonym.
    """
    missing = {word.casefold() for word in evidence.missing}
    absent = [word for word in weights.words if word.typed.casefold() in missing or not weights.anywhere(word)]
    names = [word.typed for word in absent if word.name]
    # "Foo-Login" is not there because "foo" and "login" are: the name of a product counts in one piece.
    names += [word.typed for word in weights.words if word.product and word not in absent and weights.nowhere(word)]
    if names:
        return names
    if weights.together() < MIN_COVERAGE:
        return [word.typed for word in absent] or [word.typed for word in weights.words]
    return []


def rank(evidence: Evidence, weights: Weights) -> list[tuple[float, SeenPassage]]:
    """The passages by how well they fit the question, best first, each with its score."""
    scored: list[tuple[float, SeenPassage]] = []
    for place, passage in enumerate(evidence.passages.values()):
        score = (
            RANK_WEIGHT / (place + 1)
            + COVERAGE_WEIGHT * weights.of(passage)
            + HEADING_WEIGHT * weights.coverage(Terms(passage.heading))
            + PAIR_WEIGHT * weights.pairs(passage)
        )
        scored.append((score, passage))
    return sorted(scored, key=lambda item: -item[0])
