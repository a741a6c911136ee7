"""Scoring ranked passages: does a search bring the page, and the passage of it, that answers a labelled question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, Field, ValidationError

from py_agent.model.errors import ConfigError

#: A hit counts for a figure @5 among the first five: as many as a reader looks at, and as the agent is given.
SHOWN = 5
#: A passage that comes later than this counts as not found in the mean reciprocal rank, as is usual.
DEPTH = 10


class Gold(BaseModel):
    """A page that answers, and the anchors under which it does."""

    page: str
    anchors: frozenset[str] = frozenset()


class Part(BaseModel):
    """One part of an answer: a string that stands in it, and the pages that hold it, each enough by itself."""

    answer: str
    gold: tuple[Gold, ...] = Field(min_length=1)


class Question(BaseModel):
    """A labelled question. ``groups`` are the parts of its answer, none if the docs do not answer it."""

    id: str
    corpus: str = ""
    type: str = ""
    question: str
    groups: tuple[Part, ...] = ()


class RankedHit(BaseModel):
    """One result: ``url`` is the page's path and, behind a ``#``, the anchor; ``score`` rises with confidence."""

    url: str
    text: str = ""
    score: float = 0.0


class _Line(BaseModel):
    id: str
    hits: tuple[RankedHit, ...]


class Ranks(NamedTuple):
    """The first ranks, from 1, at which a question's page and passage came; None: not among the first ``DEPTH``."""

    page: int | None
    passage: int | None


class Figures(BaseModel):
    """Shares of questions from 0 to 1, and the mean reciprocal rank of the passage among the first ``DEPTH``."""

    questions: int
    page_at_1: float
    page_at_5: float
    passage_at_1: float
    passage_at_5: float
    mrr: float


class Report(BaseModel):
    """Figures of all questions that the docs answer, the same by type, and how well the unanswerable are told apart.

    Attributes:
        auc: Chance that the first hit of an answerable question has a higher score than that of an unanswerable one,
            0.5 where scores say nothing; None: there are not both.
    """

    all: Figures
    by_type: dict[str, Figures]
    auc: float | None


def score(questions: Iterable[Question], hits: Mapping[str, Sequence[RankedHit]]) -> Report:
    """Scores the hits of each question, best first, by the question's id.

    Raises:
        ConfigError: ``bad_input``: a question has no entry in ``hits`` (an empty one is an entry), or the docs answer
            none of the questions.
    """
    rows: list[Ranks] = []
    by_type: dict[str, list[Ranks]] = {}
    tops: dict[bool, list[float]] = {True: [], False: []}
    for question in questions:
        if question.id not in hits:
            raise ConfigError(
                f"There are no hits for the question {question.id!r}, so no figure would be true.",
                hint="Search for every question; one without a result has an empty list.",
                code="bad_input",
            )
        found = hits[question.id]
        tops[bool(question.groups)].append(found[0].score if found else 0.0)
        if question.groups:
            row = ranks(question, found)
            rows.append(row)
            by_type.setdefault(question.type, []).append(row)
    if not rows:
        raise ConfigError(
            "The docs answer none of these questions: there is nothing to score.",
            hint="Give questions with `groups`.",
            code="bad_input",
        )
    return Report(
        all=figures(rows), by_type={kind: figures(group) for kind, group in sorted(by_type.items())}, auc=_auc(tops)
    )


def ranks(question: Question, hits: Sequence[RankedHit]) -> Ranks:
    """Where the first page and the first passage that answer ``question`` stand in ``hits``.

    A passage answers that has an anchor of a gold page, or lies on the page and holds a part's answer: how an engine
    cuts pages into passages is its own affair. White space and case do not count.
    """
    page_rank = passage_rank = None
    for rank, hit in enumerate(hits[:DEPTH], 1):
        page, _, anchor = hit.url.partition("#")
        page = page.partition("?")[0].lstrip("./")
        text = _fold(hit.text)
        for part in question.groups:
            for gold in part.gold:
                if gold.page != page:
                    continue
                page_rank = page_rank or rank
                if anchor in gold.anchors or _fold(part.answer) in text:
                    passage_rank = passage_rank or rank
    return Ranks(page_rank, passage_rank)


def read_questions(path: Path) -> list[Question]:
    """Reads labelled questions, one JSON object a line.

    Raises:
        ConfigError: ``bad_input``: the file cannot be read, or a line is of another form.
    """
    return _read(path, Question.model_validate_json, "a labelled question")


def read_hits(path: Path) -> dict[str, tuple[RankedHit, ...]]:
    """Reads what ``py-agent search --batch --json`` wrote: ``{"id", "hits": [{"url", "text", "score"}]}`` a line.

    Raises:
        ConfigError: ``bad_input``: the file cannot be read, or a line is of another form.
    """
    return {line.id: line.hits for line in _read(path, _Line.model_validate_json, "a question's id and its hits")}


_T = TypeVar("_T")


def _read(path: Path, parse: Callable[[str], _T], what: str) -> list[_T]:
    try:
        # Not splitlines: text in JSON may hold other line ends than the line feed.
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}.", hint="Give a file of JSON Lines in UTF-8.", code="bad_input"
        ) from error
    read = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            read.append(parse(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"]) or "the line"
            raise ConfigError(
                f"{path}, line {number}, is not {what}: {where}: {first['msg']}.",
                hint="Correct the line.",
                code="bad_input",
            ) from error
    return read


def figures(rows: Sequence[Ranks]) -> Figures:
    """The figures of some questions, at least one, that the docs answer."""

    def share(found: Iterable[int | None], within: int) -> float:
        return sum(1 for rank in found if rank is not None and rank <= within) / len(rows)

    pages, passages = [row.page for row in rows], [row.passage for row in rows]
    return Figures(
        questions=len(rows),
        page_at_1=share(pages, 1),
        page_at_5=share(pages, SHOWN),
        passage_at_1=share(passages, 1),
        passage_at_5=share(passages, SHOWN),
        mrr=sum(1 / rank for rank in passages if rank is not None) / len(rows),
    )


def _auc(tops: Mapping[bool, Sequence[float]]) -> float | None:
    pairs = [(good > bad) + (good == bad) / 2 for good in tops[True] for bad in tops[False]]
    return sum(pairs) / len(pairs) if pairs else None


def _fold(text: str) -> str:
    return " ".join(text.split()).lower()
