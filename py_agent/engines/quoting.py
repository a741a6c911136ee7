"""Chooses the words of a passage that are worth quoting: a sentence, and the listing that goes with it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from itertools import zip_longest

from py_agent.engines.evidence import SeenPassage
from py_agent.engines.weighing import Terms, Weights

#: Characters of a quote: a shorter one takes the sentence behind it in, ...
SHORT_QUOTE = 60
#: ... a longer one is cut at a word.
LONG_QUOTE = 360
#: Lines of code that an answer shows at most.
MAX_CODE_LINES = 14
#: A sentence of this many terms counts full; longer ones hold more words by their length alone.
PLAIN_TERMS = 40
#: A listing says less by itself than a sentence, a question of the page's own says nothing.
CODE_FACTOR = 0.8
QUESTION_FACTOR = 0.4
#: A sentence that only repeats the heading tells nothing new.
ECHO_FACTOR = 0.2
#: The first other sentence of a passage says what its heading promised: it shares in the words of the heading.
FIRST_BONUS = 0.5

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+(?=[^\sa-z])|(?<=[。！？])")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_PROMPT = re.compile(r"^\s*(?:[$#%>]|>>>|\.\.\.)\s")
_CODE_SIGN = re.compile(r"[{}=;<>|\\]|\w\(|^\s{2,}\S|^\s*[@#/]|--\w|\w/\w")
_WORDY = re.compile(r"^[\"'(]?[^\W\d_]+[\"'),.:;!?]*$")


@dataclass(frozen=True)
class Block:
    """A paragraph, a list, or a listing with the language of its fence."""

    text: str
    code: bool
    language: str = ""


@dataclass(frozen=True)
class Quote:
    """Words of a passage, exactly as they stand there.

    Attributes:
        text: The quoted words.
        listing: The code that goes with them, or that they are.
        clipped: The sentence goes on behind them.
    """

    passage: SeenPassage
    text: str
    listing: Block | None = None
    clipped: bool = False

    @property
    def is_listing(self) -> bool:
        """Whether the quoted words are the listing itself."""
        return self.listing is not None and self.listing.text == self.text


@dataclass(frozen=True)
class _Candidate:
    score: float
    text: str
    listing: Block | None


def best_quote(passage: SeenPassage, weights: Weights) -> Quote | None:
    """The sentence of the passage that holds most of the question; None for a passage without words."""
    best = max(_candidates(passage, weights), key=lambda candidate: candidate.score, default=None)
    if best is None:
        return None
    listing = best.listing
    if listing is not None:
        listing = replace(listing, text="\n".join(listing.text.split("\n")[:MAX_CODE_LINES]))
        if not best.text:
            return Quote(passage, listing.text, listing)
    text = _clipped(best.text)
    return Quote(passage, text, listing, clipped=len(text) < len(best.text))


def _candidates(passage: SeenPassage, weights: Weights) -> list[_Candidate]:
    found: list[_Candidate] = []
    blocks = blocks_of(passage.text)
    heading = Terms(passage.heading)
    promised = FIRST_BONUS * weights.coverage(heading)
    for block, following in zip_longest(blocks, blocks[1:]):
        if block.code:
            found.append(_Candidate(CODE_FACTOR * _score(Terms(block.text), weights), "", block))
            continue
        listing = following if following is not None and following.code else None
        lines = [line for line in block.text.split("\n") if line.strip()]
        for line in lines:
            sentences = sentences_of(line)
            for number, sentence in enumerate(sentences):
                terms = Terms(sentence)
                score = _score(terms, weights)
                if terms.all <= heading.all:
                    score *= ECHO_FACTOR
                elif sentence.endswith(("?", "？")):
                    score *= QUESTION_FACTOR
                else:
                    score, promised = score + promised, 0.0
                introduces = (line is lines[-1] and number == len(sentences) - 1) or sentence.endswith(":")
                found.append(_Candidate(score, _lengthened(line, sentences, number), listing if introduces else None))
    return found


def _score(found: Terms, weights: Weights) -> float:
    return weights.coverage(found) / math.sqrt(max(1.0, found.count / PLAIN_TERMS))


def blocks_of(text: str) -> list[Block]:
    """The blocks of a passage. Fenced ones are code; others are code if their lines read so."""
    blocks: list[Block] = []
    lines: list[str] = []
    fence = language = ""

    def end(code: bool) -> None:
        block = "\n".join(lines)
        if block.strip():
            blocks.append(Block(block, code or is_code(block), language if code else ""))
        lines.clear()

    for line in text.split("\n"):
        if fence:
            if line.strip() == fence:
                end(code=True)
                fence = ""
            else:
                lines.append(line)
        elif (match := _FENCE.match(line)) is not None:
            end(code=False)
            fence, language = match[1], match[2]
        elif line.strip():
            lines.append(line)
        else:
            end(code=False)
    end(code=bool(fence))
    return blocks


def is_code(block: str) -> bool:
    """Whether a block's lines read as code and not as sentences."""
    lines = [line for line in block.split("\n") if line.strip()]
    if any(_PROMPT.match(line) for line in lines):
        return True
    signs = sum(bool(_CODE_SIGN.search(line)) for line in lines)
    prose = sum(_reads_as_prose(line) for line in lines)
    return signs > 0 and 2 * prose < len(lines) and 2 * signs >= len(lines)


def _reads_as_prose(line: str) -> bool:
    tokens = line.split()
    wordy = sum(bool(_WORDY.match(token)) for token in tokens)
    return len(tokens) >= 4 and wordy >= 0.6 * len(tokens)


def sentences_of(line: str) -> list[str]:
    """The sentences of a line of prose, as they stand there, without the mark of a list item."""
    return [piece.strip() for piece in _SENTENCE_END.split(_ITEM.sub("", line)) if piece.strip()]


def _lengthened(line: str, sentences: list[str], number: int) -> str:
    """A sentence, and while that is very short, the ones behind it, as they stand in the line."""
    start = line.find(sentences[number])
    end = start + len(sentences[number])
    for following in sentences[number + 1 :]:
        if end - start >= SHORT_QUOTE:
            break
        end = line.find(following, end) + len(following)
    return line[start:end]


def _clipped(text: str) -> str:
    if len(text) <= LONG_QUOTE:
        return text
    cut = text.rfind(" ", 0, LONG_QUOTE)
    return text[: cut if cut > LONG_QUOTE // 2 else LONG_QUOTE].rstrip()
