"""Text and page shards: what passages say, and what pages there are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from py_agent.search.texts import fragment_of
from py_agent.site.address import page_url, with_fragment
from py_agent.site.chunk import Piece
from py_agent.site.read import Page

#: A text shard's bytes, unpacked: small, so that five results load little besides themselves; large sites have at most
#: about so many shards, since hosts and tools slow down where an index has more files than the site has pages.
MIN_TEXT_BYTES = 12_000
MAX_TEXT_SHARDS = 16_384
#: Pages of a page shard: about 4 kB packed.
PAGES_PER_SHARD = 256


def text_shards(rows: Sequence[tuple[Page, Piece]], *, clean_urls: bool) -> Iterator[tuple[int, bytes]]:
    """The contents of the shards, each with the number of its first passage; made one by one, since all of them are as
    large as the site's text."""
    total = sum(len(piece.text) for _, piece in rows)
    size = max(MIN_TEXT_BYTES, total // MAX_TEXT_SHARDS)
    starts: dict[str, int] = {}
    for number, (page, _) in enumerate(rows):
        starts.setdefault(page.page, number)
    first, filled = 0, 0
    for number, (_, piece) in enumerate(rows):
        filled += len(piece.text) + len("".join(piece.path)) + 40
        if filled >= size or number == len(rows) - 1:
            yield first, _text_shard(rows[first : number + 1], starts, clean_urls=clean_urls)
            first, filled = number + 1, 0


def _text_shard(rows: Sequence[tuple[Page, Piece]], starts: Mapping[str, int], *, clean_urls: bool) -> bytes:
    pages: list[list[object]] = []
    lines: list[list[object]] = []
    last: Page | None = None
    for page, piece in rows:
        if page is not last:
            url = page_url(page.page, clean_urls=clean_urls)
            pages.append([page.page, page.title, url, starts[page.page], len(page.pieces)])
            if page.address or page.facets:
                pages[-1].append(page.address)
            if page.facets:
                pages[-1].append(page.facets)
            last = page
        line: list[object] = [len(pages) - 1, piece.anchor, piece.path, piece.text]
        fragment = with_fragment("", piece.anchor, piece.fragment).removeprefix("#")
        if fragment != fragment_of(piece.anchor):
            line.append(fragment)
        lines.append(line)
    return _json({"pages": pages, "rows": lines})


def page_shards(pages: Sequence[Page]) -> list[tuple[str, bytes]]:
    """The contents of the shards, each with its first page. ``pages`` must be sorted by their path."""
    rows: list[tuple[str, str, int, int]] = []
    first = 0
    for page in pages:
        rows.append((page.page, page.title, first, len(page.pieces)))
        first += len(page.pieces)
    return list(_page_shards(rows))


def _page_shards(rows: Sequence[tuple[str, str, int, int]]) -> Iterator[tuple[str, bytes]]:
    for start in range(0, len(rows), PAGES_PER_SHARD):
        part = rows[start : start + PAGES_PER_SHARD]
        yield part[0][0], _json(part)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
