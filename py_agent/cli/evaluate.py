"""``py-agent eval``: measures answers against labelled questions."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from py_agent.cli.reading import FOLDER
from py_agent.evals.answers import read_answers, read_questions, score
from py_agent.evals.retrieval import (
    RANKED,
    Figures,
    Found,
    LabelledQuestion,
    Ranks,
    auc,
    cross_validate,
    figures,
    ranks,
    read_labels,
)
from py_agent.search import IndexSearcher
from py_agent.search.fusion import Weights
from py_agent.site.load import load_index

#: Weights that a cross-validation chooses from, around those that are used.
MEANING = (0.5, 0.7, 1.0, 1.4, 2.0)
NAME = (0.0, 0.3, 0.5, 0.7)
STRONG = (0.0, 0.3, 0.4, 0.5, 0.6, 0.8)


@click.group(name="eval")
def eval_group() -> None:
    """Measure answers against labelled questions."""


@eval_group.command()
@click.argument("questions", type=FOLDER)
@click.argument("answers", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def answers(questions: Path, answers: Path, as_json: bool) -> None:
    """Score ANSWERS (as `build.py demo --check --json` or `ask --json` write them) by the labels of QUESTIONS."""
    scores = score(read_questions(questions), read_answers(answers))
    if as_json:
        click.echo(scores.model_dump_json())
        return
    asked = len(scores.answerable)
    click.echo(f"cites a gold page            {len(scores.cites_gold)} of {asked}")
    click.echo(f"first source is gold         {len(scores.first_gold)} of {asked}")
    click.echo(f"unanswerable and abstained   {len(scores.abstained_unanswerable)} of {len(scores.unanswerable)}")
    for name, ids in (
        ("cites other pages only", scores.wrong),
        ("answerable, but abstained", scores.abstained_answerable),
        ("unanswerable, but answered", sorted(set(scores.unanswerable) - set(scores.abstained_unanswerable))),
        ("not asked", scores.unasked),
    ):
        if ids:
            click.echo(f"{name}: {', '.join(ids)}")


@eval_group.command()
@click.argument("indexes", type=FOLDER)
@click.argument("questions", type=FOLDER)
@click.option("--cross-validate", is_flag=True, help="Also say what the weights are worth on questions held out.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def search(indexes: Path, questions: Path, cross_validate: bool, as_json: bool) -> None:
    """Score the search of INDEXES, an index or a folder of them by `corpus`, by the labels of QUESTIONS."""
    asyncio.run(_search(indexes, read_labels(questions), cross_validate, as_json))


async def _search(indexes: Path, questions: Sequence[LabelledQuestion], validate: bool, as_json: bool) -> None:
    single = (indexes / "manifest.json").is_file()
    names = {"" if single else question.corpus for question in questions}
    searchers = {name: await load_index(indexes / name) for name in sorted(names)}

    def searcher_of(question: LabelledQuestion) -> IndexSearcher:
        return searchers["" if single else question.corpus]

    async def outcome(question: LabelledQuestion) -> tuple[Ranks, float]:
        hits = (await searcher_of(question).search(question.question, RANKED)).hits
        found = [Found(hit.passage.page, hit.passage.anchor, hit.passage.text) for hit in hits]
        return ranks(question, found), hits[0].score if hits else 0.0

    outcomes = {question.id: await outcome(question) for question in questions}
    answered = [question for question in questions if not question.unanswerable]
    told: dict[str, object] = {}
    for kind in [*sorted({question.type for question in answered}), "all"]:
        some = [outcomes[question.id][0] for question in answered if kind in (question.type, "all")]
        told[kind] = _told(kind, figures(some), as_json)
    scores = {flag: [outcomes[one.id][1] for one in questions if one.unanswerable == flag] for flag in (False, True)}
    told["auc"] = round(auc(scores[False], scores[True]), 3)
    if not as_json:
        click.echo(f"unanswerable, by the first score: AUC {told['auc']}")
    if validate:
        choices: dict[Weights, Mapping[str, Ranks]] = {}
        for weights in itertools.starmap(Weights, itertools.product(MEANING, NAME, STRONG)):
            for one in searchers.values():
                one.weights = weights
            choices[weights] = {question.id: (await outcome(question))[0] for question in answered}
        result = cross_validate(answered, choices)
        told["best"] = result.best._asdict() if isinstance(result.best, Weights) else {}
        if not as_json:
            click.echo(f"best of {len(choices)} weights: {told['best']}")
        told["in_sample"] = _told("in-sample", result.in_sample, as_json)
        told["held_out"] = _told("held out", result.held_out, as_json)
    if as_json:
        click.echo(json.dumps(told))


def _told(name: str, found: Figures, as_json: bool) -> dict[str, float]:
    if not as_json:
        of = max(1, found.questions)
        click.echo(
            f"{name:10} n={found.questions:<3} page@5 {found.page / of:.3f}  passage@1 {found.first / of:.3f}"
            f"  passage@5 {found.passage / of:.3f}  MRR {found.mrr:.3f}"
        )
    return {**found._asdict(), "mrr": round(found.mrr, 4)}
