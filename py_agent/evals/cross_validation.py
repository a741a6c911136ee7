"""What weights are worth on questions that they were not chosen by."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from py_agent.evals.retrieval import Figures, Question, Ranks, figures

#: Parts of a cross-validation: each holds nearly ten of the benchmark's 48 questions that the docs answer.
FOLDS = 5

Choice = TypeVar("Choice", bound=Hashable)


class CrossValidation(NamedTuple):
    """In-sample: the figures of the choice that is best for all questions. Held out: each question by the choice that
    is best for the questions of the other folds."""

    best: object
    in_sample: Figures
    held_out: Figures


def cross_validate(
    questions: Sequence[Question], outcomes: Mapping[Choice, Mapping[str, Ranks]], folds: int = FOLDS
) -> CrossValidation:
    """How well a choice does on questions that had no part in it.

    Args:
        questions: Those that the docs answer. Each fold gets its share of every type.
        outcomes: For each choice, the ranks of each question by its id. The first of equally good choices is taken.
        folds: Parts, at least two, and no more than questions.

    Raises:
        ValueError: There is nothing to choose, or to choose by.
    """
    if not outcomes or not 2 <= folds <= len(questions):
        raise ValueError("a cross-validation needs choices, two folds, and a question for each")
    order = sorted(questions, key=lambda question: (question.type, question.id))
    parts = [[question.id for question in order[fold::folds]] for fold in range(folds)]

    def best(ids: Sequence[str]) -> Choice:
        return max(outcomes, key=lambda choice: _worth(figures([outcomes[choice][one] for one in ids])))

    everything = [question.id for question in order]
    chosen = best(everything)
    held_out: list[Ranks] = []
    for fold, part in enumerate(parts):
        choice = best([one for other, ids in enumerate(parts) if other != fold for one in ids])
        held_out += [outcomes[choice][one] for one in part]
    return CrossValidation(chosen, figures([outcomes[chosen][one] for one in everything]), figures(held_out))


def _worth(found: Figures) -> float:
    """What a choice is made by: pages and passages among the first, and how early the passage comes, all alike."""
    return found.page_at_5 + found.passage_at_5 + found.mrr
