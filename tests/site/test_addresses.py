"""Files to addresses."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from py_agent.site.address import markdown_page, page_url, with_fragment
from py_agent.site.location import Location
from tests.sites import case

ROWS = [row for row in case("D11")["rows"] if "file" in row]
LINKS = [row for row in case("D11")["rows"] if "href" in row]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["file"]))
def test_a_page_is_opened_at_its_address(row: dict[str, Any]) -> None:
    root = row["site"].rstrip("/") + "/"
    assert urljoin(root, page_url(row["file"], clean_urls=row.get("clean_urls", False))) == row["page"]


@pytest.mark.parametrize("row", LINKS, ids=lambda row: f"{row['page']} {row['href']}")
def test_a_link_on_a_page_leads_where_a_browser_goes(row: dict[str, Any]) -> None:
    site = "https://user.example/"
    path = row["page"].removeprefix(site)
    file = f"{path}index.html" if path.endswith("/") else path
    found = Location(site).locate(row["href"], file, row.get("base", ""))
    outside = row["result"] is None or row.get("same_site") is False
    assert found == (None if outside else urlsplit(row["result"]).path.removeprefix("/"))


def test_a_colon_in_a_name_makes_no_scheme() -> None:
    assert urljoin("https://x.example/", page_url("a:b.html")) == "https://x.example/a:b.html"


def test_a_text_fragment_follows_the_anchor_and_is_escaped() -> None:
    assert with_fragment("a.html", "options", "--no-cache, -n") == ("a.html#options:~:text=%2D%2Dno%2Dcache%2C%20%2Dn")
    assert with_fragment("a.html", "") == "a.html"
    assert with_fragment("a.html", "überblick") == "a.html#%C3%BCberblick"


@pytest.mark.parametrize(
    ("file", "html", "directory"),
    [
        ("guide/install.md", "guide/install.html", "guide/install/index.html"),
        ("guide/index.md", "guide/index.html", "guide/index.html"),
        ("README.md", "index.html", "index.html"),
    ],
)
def test_markdown_files_become_the_pages_that_generators_make(file: str, html: str, directory: str) -> None:
    assert markdown_page(file, "html") == html
    assert markdown_page(file, "directory") == directory
