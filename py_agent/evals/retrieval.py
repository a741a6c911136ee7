"""Scoring a search by labelled questions: is the page, and the passage, that answers among the first results?

A page hit is a result on a page that answers. A passage hit is one that also has one of the labelled anchors, or whose
text holds the answer: how an index cuts its pages is its own affair.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from py_agent.model.errors import ConfigError

#: Results that a reader, and a model, looks at.
LOOKED_AT = 5
#: Results that the mean reciprocal rank goes into.
RANKED = 10
#: Parts of a cross-validation: each holds nearly ten of the 48 questions that the docs answer.
FOLDS = 5

_BLANKS = re.compile(r"\s+")


class Gold(BaseModel):
    """A page that answers, and the anchors on it that lead to the answer."""

    page: str
    anchors: frozenset[str] = frozenset()


class Group(BaseModel):
    """One thing that the question needs to know: words of its answer, and where they stand."""

    answer: str
    gold: tuple[Gold, ...]


class LabelledQuestion(BaseModel):
    """A question with what answers it; ``groups`` are empty where the docs do not."""

    id: str
    question: str
    corpus: str = ""
    type: str = ""
    groups: tuple[Group, ...] = ()
    unanswerable: bool = False


class Found(NamedTuple):
    """A result: the file of its page, its anchor, its text."""

    page: str
    anchor: str
    text: str


class Ranks(NamedTuple):
    """Place of the first page hit and of the first passage hit, from 1; None: not among the first ``RANKED``."""

    page: int | None
    passage: int | None


class Figures(NamedTuple):
    """Figures of some questions.

    Attributes:
        questions: How many.
        page, passage: Questions with a hit among the first ``LOOKED_AT``.
        first: Questions whose first result is a passage hit.
        mrr: Mean reciprocal rank of the first passage hit, 0 to 1.
    """

    questions: int
    page: int
    passage: int
    first: int
    mrr: float


Choice = TypeVar("Choice", bound=Hashable)


class CrossValidation(NamedTuple):
    """In-sample: the figures of the choice that is best for all questions. Held out: each question by the choice that
    is best for the questions of the other folds."""

    best: object
    in_sample: Figures
    held_out: Figures


def read_labels(path: Path) -> list[LabelledQuestion]:
    """Questions from JSON lines.

    Raises:
        ConfigError: ``bad_questions``: the file is not there, or a line is none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The questions in {path} cannot be read: {error}.", hint="Give a file of JSON lines.", code="bad_questions"
        ) from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(LabelledQuestion.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            raise ConfigError(
                f"{path}, line {number}: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}.",
                hint="A line has id, question, corpus, type, unanswerable and groups: docs/command-line.md shows one.",
                code="bad_questions",
            ) from error
    return found


def ranks(question: LabelledQuestion, results: Iterable[Found]) -> Ranks:
    """Where the first hits are among ``results``, best first."""
    page_rank: int | None = None
    for rank, result in enumerate(list(results)[:RANKED], 1):
        text = _folded(result.text)
        for group in question.groups:
            for gold in group.gold:
                if gold.page != result.page:
                    continue
                page_rank = page_rank or rank
                if result.anchor in gold.anchors or _folded(group.answer) in text:
                    return Ranks(page_rank, rank)
    return Ranks(page_rank, None)


def figures(found: Sequence[Ranks]) -> Figures:
    """The figures of some questions that the docs answer."""

    def among(places: Iterable[int | None], most: int) -> int:
        return sum(1 for place in places if place is not None and place <= most)

    passages = [one.passage for one in found]
    reciprocal = sum(1 / place for place in passages if place is not None)
    return Figures(
        questions=len(found),
        page=among((one.page for one in found), LOOKED_AT),
        passage=among(passages, LOOKED_AT),
        first=among(passages, 1),
        mrr=reciprocal / len(found) if found else 0.0,
    )


def auc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """How often the score of a question that the docs answer is above that of one that they do not; ties count half.

    Returns:
        0 to 1; 0.5 is chance, and what there is without one of the two.
    """
    pairs = [(one > other) + 0.5 * (one == other) for one in answerable for other in unanswerable]
    return sum(pairs) / len(pairs) if pairs else 0.5


def cross_validate(
    questions: Sequence[LabelledQuestion], outcomes: Mapping[Choice, Mapping[str, Ranks]], folds: int = FOLDS
) -> CrossValidation:
    """How well a choice does on questions that had no part in it.

    Args:
        questions: Those that the docs answer. Each fold gets its share of every type.
        outcomes: For each choice, the ranks of each question by its id.
        folds: Parts, at least two.
    """
    if not questions or not outcomes or folds < 2:
        raise ValueError("a cross-validation needs questions, choices and two folds")
    order = sorted(questions, key=lambda question: (question.type, question.id))
    parts = [[question.id for question in order[fold::folds]] for fold in range(folds)]

    def best(ids: Sequence[str]) -> Choice:
        return max(outcomes, key=lambda choice: _worth(figures([outcomes[choice][one] for one in ids])))

    everything = [question.id for question in order]
    chosen = best(everything)
    held_out: list[Ranks] = []
    for fold, part in enumerate(parts):
        others = [one for other, ids in enumerate(parts) if other != fold for one in ids]
        choice = best(others)
        held_out += [outcomes[choice][one] for one in part]
    return CrossValidation(chosen, figures([outcomes[chosen][one] for one in everything]), figures(held_out))


def _worth(found: Figures) -> float:
    """What a choice is made by: pages and passages among the first, and how early the passage comes, all alike."""
    return (found.page + found.passage) / max(1, found.questions) + found.mrr


def _folded(text: str) -> str:
    return _BLANKS.sub(" ", text).strip().lower()
