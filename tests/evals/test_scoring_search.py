"""Search scored by labelled questions, with figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.evals.retrieval import Found, LabelledQuestion, Ranks, auc, cross_validate, figures, ranks, read_labels
from py_agent.model.errors import ConfigError


def question(number: int, kind: str = "howto") -> LabelledQuestion:
    gold = {"answer": "Cache.TTL  is\n60", "gold": [{"page": "a.html", "anchors": ["ttl"]}, {"page": "b.html"}]}
    return LabelledQuestion.model_validate({"id": f"q{number}", "question": "?", "type": kind, "groups": [gold]})


def test_a_page_hit_needs_the_page_and_a_passage_hit_the_anchor_or_the_answer() -> None:
    one = question(1)
    miss, page = Found("c.html", "ttl", "cache.ttl is 60"), Found("a.html", "top", "other")
    anchor, text = Found("a.html", "ttl", ""), Found("b.html", "", "The cache.ttl is 60 seconds.")
    assert ranks(one, [miss, page, anchor]) == (2, 3)
    assert ranks(one, [text]) == (1, 1)
    assert ranks(one, [miss, page]) == (2, None)
    assert ranks(one, [miss] * 10 + [anchor]) == (None, None), "nobody looks so far"
    assert ranks(LabelledQuestion(id="x", question="?"), [anchor]) == (None, None)


def test_figures_of_four_questions() -> None:
    found = figures([Ranks(1, 1), Ranks(1, 4), Ranks(6, 8), Ranks(None, None)])
    assert found == (4, 2, 2, 1, pytest.approx((1 + 1 / 4 + 1 / 8) / 4))
    assert figures([]) == (0, 0, 0, 0, 0.0)


def test_the_area_under_the_curve_counts_pairs_and_half_of_ties() -> None:
    assert auc([0.9, 0.5], [0.5, 0.1]) == (1 + 1 + 0.5 + 1) / 4
    assert auc([], [1.0]) == 0.5


def test_what_is_held_out_has_no_part_in_the_choice() -> None:
    questions = [question(number, f"kind{number % 2}") for number in range(10)]
    good, bad = Ranks(1, 1), Ranks(None, None)
    # Each choice is right on one question alone, and wrong on all others: chosen without it, it is never right.
    lonely = {at: {one.id: good if number == at else bad for number, one in enumerate(questions)} for at in range(10)}
    result = cross_validate(questions, lonely, folds=10)
    assert result.in_sample.page == 1 and result.held_out.page == 0
    steady = {**lonely, 99: {one.id: good for one in questions}}
    assert cross_validate(questions, steady).best == 99
    assert cross_validate(questions, steady).held_out == cross_validate(questions, steady).in_sample
    with pytest.raises(ValueError, match="folds"):
        cross_validate(questions, steady, folds=1)


def test_labels_that_cannot_be_read_are_named_by_their_line(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(question(1).model_dump_json() + "\n\n{}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="line 3: id: Field required"):
        read_labels(file)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_labels(tmp_path / "none.jsonl")
    file.write_text(question(1).model_dump_json(), encoding="utf-8")
    assert read_labels(file) == [question(1)]
