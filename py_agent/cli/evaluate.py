"""``py-agent eval``: measures answers against labelled questions."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from py_agent.cli.reading import FOLDER
from py_agent.evals import retrieval
from py_agent.evals.answers import read_answers, read_questions, score
from py_agent.evals.cross_validation import FOLDS, cross_validate
from py_agent.evals.retrieval import DEPTH, Figures, Question, RankedHit, Ranks, ranks
from py_agent.model.errors import ConfigError
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
@click.option("--cross-validate", "validate", is_flag=True, help="Also say what the weights are worth, held out.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def search(indexes: Path, questions: Path, validate: bool, as_json: bool) -> None:
    """Score the search of INDEXES, an index or a folder of them by `corpus`, by the labels of QUESTIONS."""
    told = asyncio.run(_search(indexes, retrieval.read_questions(questions), validate))
    if as_json:
        click.echo(json.dumps(told, default=dict))
        return
    for name, found in told.items():
        if isinstance(found, Figures):
            click.echo(
                f"{name:10} n={found.questions:<3} page@1 {found.page_at_1:.3f}  page@5 {found.page_at_5:.3f}"
                f"  passage@1 {found.passage_at_1:.3f}  passage@5 {found.passage_at_5:.3f}  MRR {found.mrr:.3f}"
            )
        else:
            click.echo(f"{name}: {found}")


async def _search(indexes: Path, questions: Sequence[Question], validate: bool) -> dict[str, object]:
    single = (indexes / "manifest.json").is_file()
    names = {"" if single else question.corpus for question in questions}
    searchers = {name: await load_index(indexes / name) for name in sorted(names)}

    async def hits(question: Question) -> list[RankedHit]:
        found = await searchers["" if single else question.corpus].search(question.question, DEPTH)
        return [
            RankedHit(url=f"{hit.passage.page}#{hit.passage.anchor}", text=hit.passage.text, score=hit.score)
            for hit in found.hits
        ]

    report = retrieval.score(questions, {question.id: await hits(question) for question in questions})
    told: dict[str, object] = {**report.by_type, "all": report.all, "auc": report.auc and round(report.auc, 3)}
    answered = [question for question in questions if question.groups]
    if validate:
        if len(answered) < FOLDS:
            raise ConfigError(
                f"{len(answered)} questions with an answer are too few for a cross-validation.",
                hint=f"Give at least {FOLDS}.",
                code="bad_input",
            )
        choices: dict[Weights, Mapping[str, Ranks]] = {}
        for weights in itertools.starmap(Weights, itertools.product(MEANING, NAME, STRONG)):
            for one in searchers.values():
                one.weights = weights
            choices[weights] = {question.id: ranks(question, await hits(question)) for question in answered}
        result = cross_validate(answered, choices)
        told |= {"best": result.best, "in-sample": result.in_sample, "held out": result.held_out}
    return told
