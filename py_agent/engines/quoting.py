"""Chooses the words of a passage that are worth quoting: a sentence, and the listing that goes with it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

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
#: The first sentence of a passage says what its heading promised: it shares in the words of the heading.
FIRST_BONUS = 0.5

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+(?=[^\sa-z])|(?<=[。！？])")
_PROMPT = re.compile(r"^\s*(?:[$#%>]|>>>|\.\.\.)\s")
_CODE_SIGN = re.compile(r"[{}=;<>|\\]|\w\(|^\s{2,}\S|^\s*[@#/]|--\w|\w/\w")
_WORDY = re.compile(r"^[\"'(]?[^\W\d_]+[\"'),.:;!?]*$")


@dataclass(frozen=True)
class Quote:
    """Words of a passage, exactly as they stand there.

    Attributes:
        text: The quoted words.
        code: The listing that goes with them, or that they are.
        clipped: The sentence goes on behind them.
    """

    passage: SeenPassage
    text: str
    code: str = ""
    clipped: bool = False


@dataclass(frozen=True)
class _Candidate:
    score: float
    text: str
    code: str


def best_quote(passage: SeenPassage, weights: Weights) -> Quote | None:
    """The sentence of the passage that holds most of the question; None for a passage without words."""
    best: _Candidate | None = None
    for candidate in _candidates(passage, weights):
        if best is None or candidate.score > best.score + 1e-9:
            best = candidate
    if best is None:
        return None
    code = "\n".join(best.code.split("\n")[:MAX_CODE_LINES])
    if not best.text:
        return Quote(passage, code, code)
    text = _clipped(best.text)
    return Quote(passage, text, code, clipped=len(text) < len(best.text))


def _candidates(passage: SeenPassage, weights: Weights) -> list[_Candidate]:
    found: list[_Candidate] = []
    blocks = blocks_of(passage.text)
    heading = weights.coverage(Terms(passage.heading))
    for index, (block, is_code) in enumerate(blocks):
        if is_code:
            found.append(_Candidate(CODE_FACTOR * _score(block, weights), "", block))
            continue
        following = blocks[index + 1][0] if index + 1 < len(blocks) and blocks[index + 1][1] else ""
        sentences = sentences_of(block)
        for number, sentence in enumerate(sentences):
            score = _score(sentence, weights) + (FIRST_BONUS * heading if not found else 0.0)
            if sentence.rstrip().endswith(("?", "？")):
                score *= QUESTION_FACTOR
            introduces = number == len(sentences) - 1 or sentence.rstrip().endswith(":")
            found.append(_Candidate(score, _lengthened(block, sentences, number), following if introduces else ""))
    return found


def _score(text: str, weights: Weights) -> float:
    found = Terms(text)
    return weights.coverage(found) / math.sqrt(max(1.0, found.count / PLAIN_TERMS))


def blocks_of(text: str) -> list[tuple[str, bool]]:
    """The blocks of a passage, each with whether it is code."""
    blocks = [block.strip("\n") for block in re.split(r"\n[ \t]*\n", text)]
    return [(block, is_code(block)) for block in blocks if block.strip()]


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


def sentences_of(block: str) -> list[str]:
    """The sentences of a block of prose, as they stand there."""
    return [piece for line in block.split("\n") for piece in _SENTENCE_END.split(line) if piece.strip()]


def _lengthened(block: str, sentences: list[str], number: int) -> str:
    """A sentence, and while that is very short, the ones behind it, as they stand in the block."""
    sentence = sentences[number]
    start = block.find(sentence)
    end = start + len(sentence)
    for following in sentences[number + 1 :]:
        if end - start >= SHORT_QUOTE:
            break
        end = block.find(following, end) + len(following)
    return block[start:end].strip()


def _clipped(text: str) -> str:
    if len(text) <= LONG_QUOTE:
        return text
    cut = text.rfind(" ", 0, LONG_QUOTE)
    return text[: cut if cut > LONG_QUOTE // 2 else LONG_QUOTE].rstrip()
