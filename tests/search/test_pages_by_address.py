"""Pages by what models and browsers call them, without loading the list of all pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.model.tool import ToolError
from py_agent.search import IndexSearcher
from py_agent.site.index import texts, write_index
from py_agent.site.load import load_index
from py_agent.tools.places import page_at, page_named
from tests.sites import html_page, make_site, read

NAMES = ["index.html", "old.htm", *(f"guide-{number:02}/index.html" for number in range(20)), "reference/api.html"]


@pytest.fixture
async def searcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IndexSearcher:
    monkeypatch.setattr(texts, "PAGES_PER_SHARD", 2)
    pages = {name: html_page(f"About {number}", f"Words of page {number}.") for number, name in enumerate(NAMES)}
    write_index(read(make_site(tmp_path / "site", pages)).pages, tmp_path / "index")
    return await load_index(tmp_path / "index")


def loaded(searcher: IndexSearcher) -> int:
    return sum(name.startswith("pages-") for name in searcher._shards._kept)


@pytest.mark.parametrize(
    ("address", "file"),
    [
        ("/", "index.html"),
        ("index.html", "index.html"),
        ("/guide-07/?q=x#top", "guide-07/index.html"),
        ("guide-07", "guide-07/index.html"),
        ("reference/api", "reference/api.html"),
        ("/reference/api.html#f", "reference/api.html"),
        ("old.htm", "old.htm"),
        ("/old", "old.htm"),
    ],
)
async def test_a_page_is_found_by_any_of_its_addresses(searcher: IndexSearcher, address: str, file: str) -> None:
    assert [passage.page for passage in await page_at(searcher, address)] == [file]
    assert await page_named(searcher, address) == file
    assert loaded(searcher) <= 3


async def test_a_page_that_is_not_there_is_none_and_a_model_is_told_what_is_like_it(searcher: IndexSearcher) -> None:
    assert await page_at(searcher, "/elsewhere.html") == ()
    assert loaded(searcher) <= 3
    with pytest.raises(ToolError, match=r"Did you mean reference/api\.html"):
        await page_named(searcher, "refrence/api")
