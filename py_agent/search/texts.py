"""Text and page shards: what passages say, and what pages there are.

A text shard is JSON: ``{"pages": [[page, title, url, first passage, number of passages], ...], "rows": [[page number,
anchor, path, text], ...]}``. A page has a sixth value where its public address is known, and a seventh with facets
where it has any; a row is a passage, with a fifth value where its url ends otherwise than in ``#anchor``. A page shard
is a JSON list of ``[page, title, first passage, number of passages]``, sorted by page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote

from py_agent.model.passage import Passage


class PageRow(NamedTuple):
    """A page of a page shard: its passages are ``passages`` from ``first`` on."""

    page: str
    title: str
    first: int
    passages: int


class _Place(NamedTuple):
    """What a text shard says of a page."""

    page: str
    title: str
    url: str
    first: int
    passages: int
    address: str = ""
    facets: Mapping[str, str] = MappingProxyType({})


class TextShard:
    """A parsed text shard whose first passage has the number ``first``.

    Raises:
        ValueError, KeyError, TypeError: The data is no such shard.
    """

    def __init__(self, data: bytes, first: int) -> None:
        parsed = json.loads(data)
        self._pages = [_Place(*row) for row in parsed["pages"]]
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
        page = self._pages[row[0]]
        fragment = str(row[4]) if len(row) > 4 else fragment_of(row[1])
        return Passage(
            id=passage_id(number),
            page=page.page,
            anchor=row[1],
            url=f"{page.url}#{fragment}" if fragment else page.url,
            title=page.title,
            path=tuple(row[2]),
            text=row[3],
            address=page.address,
            facets=dict(page.facets),
            previous=passage_id(number - 1) if number > page.first else "",
            next=passage_id(number + 1) if number + 1 < page.first + page.passages else "",
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
