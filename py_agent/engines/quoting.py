"""Chooses what to quote: which passages, which of their sentences, and whether there is anything to say at all.

Nothing here knows a word of any documentation. Words weigh by how rare they are among the passages shown and by
whether they look like names in a program.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from py_agent.engines.evidence import Evidence, SeenPassage
from py_agent.model.stopwords import STOP_WORDS

#: Sources of one answer at most.
MAX_SOURCES = 3
#: A name in a program (``url_prefix``, ``--amend``, ``HTTPServer``) says more than a word of the language.
IDENTIFIER_WEIGHT = 2.0
#: What the search's order is worth against what can be counted here: it knows the rarity of words in the whole index.
RANK_WEIGHT = 1.0
COVERAGE_WEIGHT = 1.0
HEADING_WEIGHT = 0.5
#: Share of the question's weight that the passages must hold together, else they are about something else.
MIN_COVERAGE = 0.5
#: Characters of a quote: shorter ones take the sentence behind them in, longer ones are not added to.
SHORT_QUOTE = 60
#: Lines of code that an answer shows at most.
MAX_CODE_LINES = 14

_WORD = re.compile(r"[^\W_](?:[\w.+#'’-]*[\w+#])?|--?[A-Za-z][\w-]*", re.UNICODE)
_IDENTIFIER = re.compile(r"[_\d]|[a-z][A-Z]|\w[.-]{1,2}\w|^--?\w|\(\)$|[+#]$|^[A-Z]{2,}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+(?=[^\sa-z])")


@dataclass(frozen=True)
class Word:
    """A content word of the question. ``forms`` are its spellings to look for, the typed one first."""

    typed: str
    forms: tuple[str, ...]
    identifier: bool
    name: bool


@dataclass(frozen=True)
class Quote:
    """Words of a passage, exactly as they stand there. ``code``: whether they are a listing."""

    passage: SeenPassage
    text: str
    code: str = ""


def words_of(text: str) -> list[str]:
    """The words of a text, lower case, names whole and in parts."""
    words: list[str] = []
    for token in _WORD.findall(text):
        words.append(token.lower())
        parts = _PARTS.findall(token)
        if len(parts) > 1:
            words += [part.lower() for part in parts]
    return words


def question_words(evidence: Evidence) -> list[Word]:
    """The content words of the question, with what the search made of their typos."""
    words: dict[str, Word] = {}
    tokens = list(_WORD.finditer(evidence.question))
    for index, match in enumerate(tokens):
        token = match[0]
        low = token.lower()
        if low in STOP_WORDS or low in words:
            continue
        first = index == 0 or evidence.question[: match.start()].rstrip()[-1:] in (".", "!", "?", ":")
        repaired = evidence.repaired.get(low) or evidence.repaired.get(token)
        words[low] = Word(
            typed=token,
            forms=(low, repaired.lower()) if repaired else (low,),
            identifier=_IDENTIFIER.search(token) is not None,
            name=token[0].isupper() and not first,
        )
    return list(words.values())


def same_word(one: str, other: str) -> bool:
    """Whether two words are forms of one: they share all but a short ending."""
    if one == other:
        return True
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    longest = max(len(one), len(other))
    return shared >= 4 and longest - shared <= 3 and shared / longest >= 0.6


def _holds(word: Word, words: set[str]) -> bool:
    if any(form in words for form in word.forms):
        return True
    if word.identifier and len(word.typed) < 6:
        return False
    return any(same_word(form, other) for form in word.forms for other in words)


class Weights:
    """What each word of the question weighs, given the passages shown."""

    def __init__(self, words: list[Word], passages: list[SeenPassage]) -> None:
        self.words = words
        self._texts = [set(words_of(f"{passage.heading}\n{passage.text}")) for passage in passages]
        count = len(passages)
        self.weight: dict[str, float] = {}
        for word in words:
            holding = sum(_holds(word, text) for text in self._texts)
            # An absent word counts as if one passage held it: what is missing must not outweigh all that is there.
            rarity = math.log(1 + (count + 1) / (max(holding, 1) + 0.5))
            self.weight[word.typed] = rarity * (IDENTIFIER_WEIGHT if word.identifier else 1.0)
        self.total = sum(self.weight.values()) or 1.0

    def coverage(self, words: set[str]) -> float:
        """The share of the question's weight that ``words`` hold, 0 to 1."""
        return sum(self.weight[word.typed] for word in self.words if _holds(word, words)) / self.total

    def together(self) -> float:
        """The share that all passages hold together."""
        return self.coverage(set().union(*self._texts)) if self._texts else 0.0


def lacking(evidence: Evidence, words: list[Word], weights: Weights) -> list[str]:
    """The words for whose lack the question cannot be answered; empty if it may be.

    A name that stands nowhere in the evidence is what the question is about; an ordinary word may have a synonym.
    """
    missing = {word.lower() for word in evidence.missing}
    absent = [word for word in words if word.typed.lower() in missing]
    names = [word.typed for word in absent if word.name or word.identifier]
    if names:
        return names
    if weights.together() < MIN_COVERAGE:
        return [word.typed for word in absent] or [word.typed for word in words]
    return []


def rank(evidence: Evidence, weights: Weights) -> list[SeenPassage]:
    """The passages by how well they fit the question, best first."""
    scored: list[tuple[float, int, SeenPassage]] = []
    for place, passage in enumerate(evidence.passages.values()):
        body = set(words_of(passage.text))
        heading = set(words_of(passage.heading))
        score = (
            RANK_WEIGHT / (place + 1)
            + COVERAGE_WEIGHT * weights.coverage(body | heading)
            + HEADING_WEIGHT * weights.coverage(heading)
        )
        scored.append((-score, place, passage))
    return [passage for _, _, passage in sorted(scored, key=lambda item: item[:2])]


def blocks_of(text: str) -> list[tuple[str, bool]]:
    """The blocks of a passage, each with whether it is code: its lines do not read as sentences."""
    return [(block.strip("\n"), _is_code(block)) for block in re.split(r"\n[ \t]*\n", text) if block.strip()]


def _is_code(block: str) -> bool:
    lines = [line for line in block.split("\n") if line.strip()]
    signs = sum(bool(re.search(r"^\s{2,}\S|[{}=();<>|$]|^\W", line)) for line in lines)
    ends = sum(line.rstrip().endswith((".", "!", "?", ":", ",")) and " " in line.strip() for line in lines)
    return signs > len(lines) / 2 and signs > ends


def sentences_of(block: str) -> list[str]:
    """The sentences of a block of prose, as they stand there."""
    return [piece for line in block.split("\n") for piece in _SENTENCE_END.split(line) if piece.strip()]


def best_quote(passage: SeenPassage, weights: Weights) -> Quote | None:
    """The sentence of the passage that holds most of the question, and the listing that goes with it."""
    best: tuple[float, str, str] | None = None
    blocks = blocks_of(passage.text)
    for index, (block, is_code) in enumerate(blocks):
        following = blocks[index + 1][0] if index + 1 < len(blocks) and blocks[index + 1][1] else ""
        sentences = [block] if is_code else sentences_of(block)
        for number, sentence in enumerate(sentences):
            words = words_of(sentence)
            score = weights.coverage(set(words)) / math.sqrt(1 + len(words) / 40)
            if is_code:
                score *= 0.8
            if best is None or score > best[0] + 1e-9:
                if is_code:
                    best = (score, "", block)
                else:
                    code = following if number == len(sentences) - 1 or sentence.rstrip().endswith(":") else ""
                    best = (score, _lengthened(block, sentence, sentences, number), code)
    if best is None:
        return None
    _, text, code = best
    listing = "\n".join(code.split("\n")[:MAX_CODE_LINES])
    return Quote(passage, text or listing, listing)


def _lengthened(block: str, sentence: str, sentences: list[str], number: int) -> str:
    """A very short sentence together with the one behind it, as the two stand in the block."""
    if len(sentence) >= SHORT_QUOTE or number + 1 >= len(sentences):
        return sentence
    start = block.find(sentence)
    end = block.find(sentences[number + 1], start) + len(sentences[number + 1])
    return block[start:end]
