"""Finds the page that a model means: by its path in any spelling, else by names that are like it."""

from __future__ import annotations

from py_agent.model.passage import Passage
from py_agent.model.tool import ToolError
from py_agent.search.base import Searcher

#: Pages that an error suggests.
SUGGESTIONS = 3

#: Files behind an address without its ending, the likeliest first.
_FILES = ("{}.html", "{}/index.html", "{}", "{}.htm", "{}.md")

#: Likeness of a path, 0 to 100, from which on a page is suggested.
LIKE_PATH = 60


async def page_named(search: Searcher, name: str) -> str:
    """The page that a path names.

    Raises:
        ToolError: There is none; the text names pages that are like it.
    """
    if found := await page_at(search, name):
        return found[0].page
    wanted = plain_path(name)
    pages = [page.page for page in await search.pages()]
    for page in pages:
        if plain_path(page) == wanted:
            return page
    raise ToolError(f"There is no page or passage {name[:100]!r}.{_like(wanted, pages)} Search first.", code="no_page")


async def page_at(search: Searcher, path: str) -> tuple[Passage, ...]:
    """The passages of the page at ``path``, as an address or a file, in reading order; empty if there is none.

    Asks for each file that may lie behind the address: the list of all pages is megabytes on a large site.
    """
    plain = plain_path(path)
    for file in _FILES:
        if found := await search.page(file.format(plain).removeprefix("/")):
            return found
    return ()


async def place_of(search: Searcher, name: str) -> tuple[str, str]:
    """Address, relative to the site's root, and title of the place that a path or a passage's id names.

    Raises:
        ToolError: As ``page_named``.
    """
    try:
        passage = await search.passage(name)
        return passage.url, passage.title
    except KeyError:
        first = (await search.page(await page_named(search, name)))[0]
        return first.url.partition("#")[0], first.title


def plain_path(path: str) -> str:
    """A page's path without what different spellings of the same address differ in."""
    path = path.partition("#")[0].partition("?")[0].strip().strip("/").removesuffix("index.html").strip("/")
    return path.removesuffix(".html").removesuffix(".md")


def _like(wanted: str, pages: list[str]) -> str:
    """Pages with the same last part, else those that are spelt like it."""
    from rapidfuzz import process

    leaf = wanted.rsplit("/", 1)[-1]
    same = [page for page in pages if plain_path(page).rsplit("/", 1)[-1] == leaf][:SUGGESTIONS]
    found = same or [match[0] for match in process.extract(wanted, pages, limit=SUGGESTIONS, score_cutoff=LIKE_PATH)]
    return f" Did you mean {' or '.join(found)}?" if found else ""
