"""Ranked passages are scored by page, by passage, by rank, and by whether their scores tell what the docs lack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from py_agent.evals.retrieval import Question, RankedHit, Ranks, ranks, read_hits, read_questions, score
from py_agent.model.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


def question(name: str, *gold: str, answer: str = "the  Answer", kind: str = "howto") -> Question:
    groups = [
        {"answer": answer, "gold": [{"page": page, "anchors": [anchor] if anchor else []}]}
        for page, _, anchor in (one.partition("#") for one in gold)
    ]
    return Question.model_validate({"id": name, "type": kind, "question": "?", "groups": groups})


def hits(*urls: str, text: str = "", top: float = 1.0) -> list[RankedHit]:
    return [RankedHit(url=url, text=text, score=top - at / 10) for at, url in enumerate(urls)]


def test_a_page_is_found_without_its_passage() -> None:
    assert ranks(question("q", "a.html#x"), hits("b.html#x", "a.html#y")) == Ranks(2, None)


def test_a_passage_is_found_by_its_anchor() -> None:
    assert ranks(question("q", "a.html#x"), hits("a.html#y", "a.html#x")) == Ranks(1, 2)


def test_a_passage_is_found_by_what_it_says_whatever_its_spaces_and_case() -> None:
    assert ranks(question("q", "a.html#x"), hits("a.html#y", text="It says THE\nanswer here.")) == Ranks(1, 1)
    assert ranks(question("q", "a.html#x"), hits("b.html#y", text="It says the answer here.")) == Ranks(None, None)


def test_either_part_of_an_answer_counts() -> None:
    assert ranks(question("q", "a.html#x", "b.html#y"), hits("c.html", "b.html#y", "a.html#x")) == Ranks(2, 2)


def test_addresses_may_begin_with_a_dot_and_carry_a_query() -> None:
    assert ranks(question("q", "a.html#x"), hits("./a.html?highlight=word#x")) == Ranks(1, 1)


def test_what_comes_after_the_tenth_is_not_found() -> None:
    others = [f"other{number}.html" for number in range(10)]
    assert ranks(question("q", "a.html#x"), hits(*others[:9], "a.html#x")) == Ranks(10, 10)
    assert ranks(question("q", "a.html#x"), hits(*others, "a.html#x")) == Ranks(None, None)


def test_figures_of_all_and_by_type() -> None:
    asked = [question("1", "a.html#x", kind="ident"), question("2", "a.html#x"), question("3", "a.html#x")]
    report = score(
        asked,
        {
            "1": hits("a.html#x"),
            "2": hits("b.html", "a.html#y", "a.html#x"),
            "3": hits("b.html", "b.html", "b.html", "b.html", "b.html", "a.html#x"),
        },
    )
    assert report.all.model_dump() == pytest.approx(
        {
            "questions": 3,
            "page_at_1": 1 / 3,
            "page_at_5": 2 / 3,
            "passage_at_1": 1 / 3,
            "passage_at_5": 2 / 3,
            "mrr": (1 + 1 / 3 + 1 / 6) / 3,
        }
    )
    assert {kind: figures.questions for kind, figures in report.by_type.items()} == {"howto": 2, "ident": 1}
    assert report.by_type["ident"].mrr == 1.0
    assert report.auc is None


def test_scores_that_tell_what_the_docs_lack_count_by_pairs() -> None:
    asked = [question("good", "a.html"), question("weak", "a.html"), question("lacking"), question("silent")]
    found = {
        "good": hits("a.html", top=0.9),
        "weak": hits("a.html", top=0.3),
        "lacking": hits("b.html", top=0.3),
        "silent": [],
    }
    # good beats both, weak beats the silent one and equals the other.
    assert score(asked, found).auc == pytest.approx(3.5 / 4)


def test_a_question_that_was_not_searched_is_refused() -> None:
    with pytest.raises(ConfigError, match="no hits for the question 'q'"):
        score([question("q", "a.html")], {})


def test_questions_that_the_docs_do_not_answer_alone_have_no_figures() -> None:
    with pytest.raises(ConfigError, match="nothing to score"):
        score([question("q")], {"q": []})


def test_a_line_of_another_form_is_named(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": "1", "question": "?"}\n\n{"id": "2", "question": "?", "groups": [{"answer": "x"}]}\n')
    with pytest.raises(ConfigError, match=r"line 3, is not a labelled question: groups\.0\.gold"):
        read_questions(file)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_hits(tmp_path / "none.jsonl")


def test_hits_as_the_search_command_writes_them(tmp_path: Path) -> None:
    file = tmp_path / "hits.jsonl"
    line = {"id": "1", "query": "?", "hits": [{"url": "a.html#x", "text": "a\u2028b", "score": 0.5, "title": "A"}]}
    file.write_text(json.dumps(line, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_hits(file) == {"1": (RankedHit(url="a.html#x", text="a\u2028b", score=0.5),)}


def test_the_benchmark_s_questions_are_sixty_and_twelve_are_not_answered() -> None:
    asked = read_questions(ROOT / "benchmarks" / "search" / "questions.jsonl")
    assert len({one.id for one in asked}) == 60
    assert sum(1 for one in asked if not one.groups) == 12
    assert {one.corpus for one in asked} == {"flask", "git", "nodejs", "postgres", "python", "sqlite"}
