"""Scoring answers by where they cite: does a labelled question's answer lead to a page that answers it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from py_agent.model.errors import ConfigError

_CURE = "Write it with `build.py demo --check --json`, or as a JSON list of {question, status, sources: [{page}]}."


class Question(BaseModel):
    """A labelled question. ``gold`` are the pages that answer it; none if the docs do not."""

    id: str
    question: str
    gold: frozenset[str] = frozenset()


class Given(BaseModel):
    """An answer as given: the pages that it cites, in order. Without any, it abstained."""

    question: str
    status: str = ""
    pages: tuple[str, ...] = ()


class Scores(BaseModel):
    """What came out, as lists of question ids."""

    answerable: list[str] = Field(default_factory=list)
    unanswerable: list[str] = Field(default_factory=list)
    cites_gold: list[str] = Field(default_factory=list)
    first_gold: list[str] = Field(default_factory=list)
    wrong: list[str] = Field(default_factory=list)
    abstained_answerable: list[str] = Field(default_factory=list)
    abstained_unanswerable: list[str] = Field(default_factory=list)
    unasked: list[str] = Field(default_factory=list)


def score(questions: Iterable[Question], answers: Mapping[str, Given]) -> Scores:
    """Scores ``answers`` (by the question's text). A question that was not asked counts as unasked, nothing else."""
    scores = Scores()
    for question in questions:
        given = answers.get(fold(question.question))
        if given is None:
            scores.unasked.append(question.id)
        elif not question.gold:
            scores.unanswerable.append(question.id)
            if abstained(given):
                scores.abstained_unanswerable.append(question.id)
        else:
            scores.answerable.append(question.id)
            if abstained(given):
                scores.abstained_answerable.append(question.id)
            elif not question.gold.intersection(given.pages):
                scores.wrong.append(question.id)
            else:
                scores.cites_gold.append(question.id)
                if given.pages[0] in question.gold:
                    scores.first_gold.append(question.id)
    return scores


def abstained(given: Given) -> bool:
    """Whether the answer says honestly that the docs do not answer. A failed turn is no abstention."""
    return given.status == "abstained"


def fold(question: str) -> str:
    """A question's text as a key: white space does not count."""
    return " ".join(question.split())


def read_questions(path: Path) -> list[Question]:
    """Reads JSON Lines: ``id``, ``question``, ``groups: [{gold: [{page}]}]``; empty groups: not answered by the docs.

    Raises:
        ConfigError: The file cannot be read or a line is of another form.
    """
    read = []
    for number, line in enumerate(_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            gold = {entry["page"] for group in row.get("groups", []) for entry in group["gold"]}
            read.append(Question(id=str(row["id"]), question=row["question"], gold=frozenset(gold)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{path}, line {number}, is no labelled question ({type(error).__name__}: {error}).",
                hint="Each line is a JSON object with id, question and groups: [{gold: [{page}]}].",
                code="bad_input",
            ) from error
    return read


def read_answers(path: Path) -> dict[str, Given]:
    """Reads answers: a JSON list, a report with ``questions``, or JSON Lines, each ``{question, status, sources}``.

    Raises:
        ConfigError: The file cannot be read or is of another form.
    """
    text = _text(path)
    try:
        rows = _rows(text)
        given = [_given(row) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path} holds no answers ({type(error).__name__}: {error}).", hint=_CURE, code="bad_input"
        ) from error
    return {fold(one.question): one for one in given}


def _rows(text: str) -> list[dict[str, Any]]:
    try:
        data = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(data, dict):
        data = data.get("questions", [data])
    rows: list[dict[str, Any]] = data
    return rows


def _given(row: dict[str, Any]) -> Given:
    pages = tuple(source["page"] for source in row.get("sources", []))
    return Given(question=row["question"], status=row.get("status", ""), pages=pages)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}.", hint="Give a UTF-8 text file.", code="bad_input"
        ) from error
