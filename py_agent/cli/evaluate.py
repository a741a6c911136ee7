"""``py-agent eval``: measures answers against labelled questions."""

from __future__ import annotations

from pathlib import Path

import click

from py_agent.cli.reading import FOLDER
from py_agent.evals.answers import read_answers, read_questions, score


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
