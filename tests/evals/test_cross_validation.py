"""A choice that is judged by questions which had no part in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from py_agent.cli import main
from py_agent.evals.cross_validation import cross_validate
from py_agent.evals.retrieval import Question, Ranks
from py_agent.site.index import write_index
from tests.sites import html_page, make_site, read

GOOD, BAD = Ranks(1, 1), Ranks(None, None)


def question(number: int) -> Question:
    gold = {"answer": "x", "gold": [{"page": "a.html"}]}
    return Question.model_validate({"id": f"q{number}", "question": "?", "type": f"{number % 2}", "groups": [gold]})


def test_what_is_held_out_has_no_part_in_the_choice() -> None:
    questions = [question(number) for number in range(10)]
    # Each choice is right on one question alone: chosen without that one, it is never right.
    lonely = {at: {one.id: GOOD if number == at else BAD for number, one in enumerate(questions)} for at in range(10)}
    result = cross_validate(questions, lonely, folds=10)
    assert result.in_sample.page_at_5 == 0.1 and result.held_out.page_at_5 == 0


def test_a_choice_that_is_best_everywhere_is_worth_what_it_seems() -> None:
    questions = [question(number) for number in range(10)]
    outcomes = {"bad": {one.id: BAD for one in questions}, "good": {one.id: GOOD for one in questions}}
    result = cross_validate(questions, outcomes)
    assert (result.best, result.in_sample, result.held_out.mrr) == ("good", result.held_out, 1.0)
    with pytest.raises(ValueError, match="two folds"):
        cross_validate(questions, outcomes, folds=1)


@pytest.mark.cpython
def test_the_command_scores_an_index_and_cross_validates(tmp_path: Path) -> None:
    pages = {name: html_page(name, f"All about {name} here.") for name in ("cats", "dogs", "birds", "fish", "ants")}
    write_index(read(make_site(tmp_path / "site", pages)).pages, tmp_path / "index")
    lines = [
        {
            "id": name,
            "question": f"about {name}",
            "groups": [{"answer": name, "gold": [{"page": f"{name}/index.html"}]}],
        }
        for name in pages
    ]
    labels = tmp_path / "questions.jsonl"
    labels.write_text("\n".join(json.dumps(line) for line in [*lines, {"id": "no", "question": "horses"}]), "utf-8")
    run = [str(part) for part in ("eval", "search", tmp_path / "index", labels, "--cross-validate")]
    told = json.loads(CliRunner().invoke(main, [*run, "--json"]).stdout)
    assert (told["all"]["questions"], told["all"]["mrr"], told["auc"], told["held out"]["mrr"]) == (5, 1.0, 1.0, 1.0)
    assert "held out   n=5" in CliRunner().invoke(main, run).output
    labels.write_text(json.dumps(lines[0]), "utf-8")
    assert "too few" in CliRunner().invoke(main, run).output
