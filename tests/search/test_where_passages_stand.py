"""A passage tells where it stands: its neighbours on the page, its public address, its page's version and language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from py_agent.cli import main
from py_agent.model.passage import Passage
from py_agent.search import IndexSearcher
from py_agent.site.index import texts, write_index
from py_agent.tools.listing import heading, list_passages
from tests.sites import make_site, open_site, read

HOST = "https://lantern.example/docs/"
PARTS = "".join(f"<h2 id=s{n}>Part {n}</h2><p>Gear {n} turns the wheel." for n in range(7))


def page(head: str, body: str, language: str = "en") -> str:
    head = f"<!doctype html><html lang={language}><head>{head}<title>T</title></head>"
    return f"{head}<main><h1>T</h1>{body}</main></html>"


def canonical(path: str) -> str:
    return f'<link rel="canonical" href="{HOST}{path}">'


async def opened(tmp_path: Path, pages: dict[str, str]) -> IndexSearcher:
    return await open_site(make_site(tmp_path / "site", pages), tmp_path / "index")


@pytest.mark.parametrize("shard_bytes", [1, 200, 12_000], ids=["a passage a shard", "cut inside of pages", "one shard"])
async def test_neighbours_end_where_the_page_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard_bytes: int
) -> None:
    monkeypatch.setattr(texts, "MIN_TEXT_BYTES", shard_bytes)
    searcher = await opened(
        tmp_path, {"a.html": page("", PARTS), "b.html": page("", "<p>Alone."), "c.html": page("", PARTS)}
    )
    for name, count in (("a.html", 7), ("b.html", 1), ("c.html", 7)):
        ids = [passage.id for passage in await searcher.page(name)]
        assert len(ids) == count
        found = [(passage.previous, passage.next) for passage in await searcher.page(name)]
        assert found == list(zip(["", *ids[:-1]], [*ids[1:], ""], strict=True))


async def hit(searcher: IndexSearcher, query: str) -> Passage:
    return (await searcher.search(query, 1)).hits[0].passage


async def test_the_link_is_public_where_the_site_tells_its_address(tmp_path: Path) -> None:
    pages = {
        "/a/": page(canonical("a/"), "<h2 id=x>Apple</h2><p>Words."),
        "/b/": page(canonical("b/"), "<h2>Pear</h2><p>Words."),
        "/old/": page(canonical("new/"), "<p>Quince."),  # the address of a page that is not in this site
        "/c/": page("", "<p>Plum."),
    }
    searcher = await opened(tmp_path, pages)
    found = {name: await hit(searcher, name) for name in ("apple", "pear", "quince", "plum")}
    assert {name: (passage.url, passage.link) for name, passage in found.items()} == {
        "apple": ("a/#x", f"{HOST}a/#x"),
        "pear": ("b/#:~:text=Pear", f"{HOST}b/#:~:text=Pear"),
        "quince": ("old/", "old/"),
        "plum": ("c/", "c/"),
    }


async def test_the_sitemaps_address_of_a_page_wins_and_a_file_is_no_public_address(tmp_path: Path) -> None:
    listed = "".join(f"<url><loc>{HOST}{name}</loc></url>" for name in ("a", "b"))
    pages = {"a.html": page("", "<h2 id=x>Apple</h2><p>Words."), "b.html": page("", "<p>Pear.")}
    root = make_site(tmp_path / "site", pages)
    (root / "sitemap.xml").write_text(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>')
    searcher = await open_site(root, tmp_path / "index")
    assert (await hit(searcher, "apple")).link == f"{HOST}a#x"
    here = '<link rel="canonical" href="file:///usr/share/doc/{}.html">'
    other = {f"{name}.html": page(here.format(name), f"<p>Fruit {name}.") for name in "ab"}
    searcher = await open_site(make_site(tmp_path / "other", other), tmp_path / "other-index")
    assert (await hit(searcher, "fruit")).address == ""


async def test_version_and_language_reach_search_results_pages_and_the_model(tmp_path: Path) -> None:
    pages = {
        f"{language}/{version}/a.html": page("", f"<p>Gear of {language} {version}.", language)
        for language in ("en", "de")
        for version in ("v1.0", "v2.0")
    }
    searcher = await opened(tmp_path, {**pages, "about.html": page("", "<p>Who we are.")})
    [passage] = await searcher.page("de/v2.0/a.html")
    assert passage.facets == {"language": "de", "version": "v2.0"}
    assert heading(passage) == "T (language de, version v2.0)"
    text, _ = list_passages("Found:", [passage])
    assert f"[{passage.id}] T (language de, version v2.0)" in text
    found = (await searcher.search("gear")).hits
    assert {tuple(sorted(one.passage.facets.values())) for one in found} == {
        ("de", "v1.0"), ("de", "v2.0"), ("en", "v1.0"), ("en", "v2.0"),
    }  # fmt: skip


async def test_a_site_of_one_version_and_language_tells_nothing(tmp_path: Path) -> None:
    searcher = await opened(tmp_path, {"a.html": page("", "<p>Gear."), "b.html": page("", "<p>Wheel.")})
    passage = await hit(searcher, "gear")
    assert (passage.facets, heading(passage)) == ({}, "T")


def test_the_command_line_tells_link_facets_and_neighbours(tmp_path: Path) -> None:
    files = [f"{version}/a.html" for version in ("v1.0", "v2.0")]
    pages = {file: page(canonical(file), f"{PARTS}<p>Gear of {file}.") for file in files}
    write_index(read(make_site(tmp_path / "site", pages)).pages, tmp_path / "index")
    told = CliRunner().invoke(main, ["search", str(tmp_path / "index"), "part 3", "--json"])
    first = json.loads(told.output)["hits"][0]
    version = first["facets"]["version"]
    assert first["url"] == f"{version}/a.html#s3" and first["link"] == f"{HOST}{version}/a.html#s3"
    at = int(first["id"][1:])
    assert (first["previous"], first["next"]) == (f"p{at - 1}", f"p{at + 1}")
    shown = CliRunner().invoke(main, ["search", str(tmp_path / "index"), "part 3"]).output
    assert f"version {version}" in shown and first["link"] in shown
