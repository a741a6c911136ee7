"""Answers scored by the pages that they cite."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from py_agent.cli import main


def question(name: str, *pages: str) -> str:
    groups = [{"answer": "x", "gold": [{"page": page, "anchors": []}]} for page in pages]
    return json.dumps({"id": name, "question": f"Question {name}?", "groups": groups})


def answer(name: str, status: str, *pages: str) -> dict[str, object]:
    return {"question": f"Question  {name}?", "status": status, "sources": [{"page": page} for page in pages]}


def test_each_answer_is_counted_once_and_where_it_belongs(tmp_path: Path) -> None:
    lines = [question("first", "a.html"), question("second", "a.html"), question("other", "a.html")]
    lines += [question("silent", "a.html"), question("failed", "a.html"), question("unasked", "a.html")]
    lines += [question("honest"), question("made-up")]
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    given = [
        answer("first", "answered", "a.html", "b.html"),
        answer("second", "answered", "b.html", "a.html"),
        answer("other", "answered", "b.html"),
        answer("silent", "abstained"),
        answer("failed", "failed"),
        answer("honest", "abstained"),
        answer("made-up", "answered", "b.html"),
    ]
    expected = {
        "answerable": ["first", "second", "other", "silent", "failed"],
        "unanswerable": ["honest", "made-up"],
        "cites_gold": ["first", "second"],
        "first_gold": ["first"],
        "wrong": ["other", "failed"],
        "abstained_answerable": ["silent"],
        "abstained_unanswerable": ["honest"],
        "unasked": ["unasked"],
    }
    for form in (json.dumps(given), json.dumps({"questions": given}), "\n".join(map(json.dumps, given))):
        (tmp_path / "a").write_text(form)
        args = ["eval", "answers", str(tmp_path / "q.jsonl"), str(tmp_path / "a")]
        assert json.loads(CliRunner().invoke(main, [*args, "--json"]).output) == expected
        shown = CliRunner().invoke(main, args).output
        assert "2 of 5" in shown and "unanswerable, but answered: made-up" in shown
