"""Text and page shards: what passages say, and what pages there are.

A text shard is JSON: ``{"pages": [[page, title, address], ...], "rows": [[page number, anchor, path, text], ...]}``, a
row a passage, with a fifth value where the address ends otherwise than in ``#anchor``, and a sixth with facets. A page
shard is a JSON list of ``[page, title, first passage, number of passages]``, sorted by page.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import quote

from py_agent.model.passage import Passage


class PageRow(NamedTuple):
    """A page of a page shard: its passages are ``passages`` from ``first`` on."""

    page: str
    title: str
    first: int
    passages: int


class TextShard:
    """A parsed text shard whose first passage has the number ``first``.

    Raises:
        ValueError, KeyError, TypeError: The data is no such shard.
    """

    def __init__(self, data: bytes, first: int) -> None:
        parsed = json.loads(data)
        self._pages = [(str(page), str(title), str(address)) for page, title, address in parsed["pages"]]
        self._rows: list[list[Any]] = parsed["rows"]
        self._first = first

    def get(self, number: int) -> Passage:
        """Passage ``number`` of the index.

        Raises:
            IndexError: The shard does not hold it.
        """
        if number < self._first:
            raise IndexError(number)
        row = self._rows[number - self._first]
        page, title, address = self._pages[row[0]]
        fragment = str(row[4]) if len(row) > 4 else fragment_of(row[1])
        return Passage(
            id=passage_id(number),
            page=page,
            anchor=row[1],
            url=f"{address}#{fragment}" if fragment else address,
            title=title,
            path=tuple(row[2]),
            text=row[3],
        )


def read_pages(data: bytes) -> list[PageRow]:
    """The rows of a page shard.

    Raises:
        ValueError, TypeError: The data is none.
    """
    return [PageRow(str(page), str(title), int(first), int(count)) for page, title, first, count in json.loads(data)]


def fragment_of(anchor: str) -> str:
    """An anchor as it stands in an address."""
    return quote(anchor, safe="/?:@!$&'()*+,;=~")


def passage_id(number: int) -> str:
    """The id of passage ``number`` (from 0): ``p1`` is the first."""
    return f"p{number + 1}"


def passage_number(name: str) -> int | None:
    """The number (from 0) that an id stands for, or None if it has not the form of one."""
    digits = name[1:]
    if name[:1] != "p" or not digits.isascii() or not digits.isdigit() or digits[0] == "0":
        return None
    return int(digits) - 1
