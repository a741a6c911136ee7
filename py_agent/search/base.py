"""The search boundary: what the harness asks of an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic import Field

from py_agent.model.base import Record
from py_agent.model.passage import Passage


class Hit(Record):
    """A passage that a query found.

    Attributes:
        passage: The passage.
        score: 0 to 1. It orders the hits of one query; that of the first rises with how sure one may be that it answers
            the query, so that it compares queries, too.
    """

    passage: Passage
    score: float


class SearchResult(Record):
    """The answer to one query.

    Attributes:
        query: The query as asked.
        hits: Best first.
        missing: Content words of the query that none of the hits holds, even after typo repair: the evidence for
            "not in these docs".
        repaired: Query words that were read as another word of the index (typos): ``{"rnage": "range"}``.
    """

    query: str
    hits: tuple[Hit, ...]
    missing: tuple[str, ...] = ()
    repaired: dict[str, str] = Field(default_factory=dict)


class Page(Record):
    """A page of the index. ``page`` and ``title`` are those of its passages."""

    page: str
    title: str


class Searcher(Protocol):
    """An opened index."""

    async def search(self, query: str, top: int = 5) -> SearchResult:
        """Ranks passages for ``query``. Yields to the event loop while it works, so that stop works meanwhile."""
        ...

    async def passage(self, passage_id: str) -> Passage:
        """The passage with this id.

        Raises:
            KeyError: The index has no such passage.
        """
        ...

    async def page(self, page: str) -> tuple[Passage, ...]:
        """The passages of one page in reading order; empty if the index has no such page."""
        ...

    async def pages(self) -> Sequence[Page]:
        """All pages, in the order of the index."""
        ...
