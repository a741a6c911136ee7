"""Addresses that lead to the same page, pages that ask to be left out, and what robots.txt and sitemap.xml say."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.site.location import find_base, same_page
from py_agent.site.read import Site
from tests.sites import case, html_page, make_site, read

HOST = "https://lantern.example/docs/"


def page(head: str, text: str = "Words of this page.") -> str:
    return f"<!doctype html><html><head>{head}<title>T</title></head><body><main><h1>T</h1><p>{text}</main></html>"


def reasons(site: Site) -> dict[str, str]:
    return {one.file: one.reason for one in site.skipped}


def pages(site: Site) -> list[str]:
    return [one.page for one in site.pages]


@pytest.mark.parametrize(
    "href",
    [
        f"{HOST}guide/install/",
        f"{HOST}guide/install/index.html",
        f"{HOST}guide/install",
        "../guide/install/",
        "/docs/guide/install/#x",
    ],
)
def test_a_page_that_names_another_indexed_page_as_its_own_address_is_left_out(tmp_path: Path, href: str) -> None:
    front = page(f'<link rel="canonical" href="{HOST}">')
    own = page(f'<link rel="canonical" href="{HOST}guide/install/">')
    other = page(f'<link rel="canonical" href="{href}">')
    third = page(f'<link rel="canonical" href="{HOST}third/">')
    site = read(make_site(tmp_path, {"/index.html": front, "/guide/install/": own, "/old/": other, "/third/": third}))
    assert pages(site) == ["guide/install/index.html", "index.html", "third/index.html"]
    assert "guide/install/index.html as the page to find" in reasons(site)["old/index.html"]


@pytest.mark.parametrize(
    "href", ["https://elsewhere.example/other/", f"{HOST}gone/", "file:///usr/share/doc/a.html", "", ":::"]
)
def test_a_page_whose_own_address_is_not_indexed_stays(tmp_path: Path, href: str) -> None:
    site = read(make_site(tmp_path, {"/a/": page(f'<link rel="canonical" href="{href}">'), "/b/": page("")}))
    assert pages(site) == ["a/index.html", "b/index.html"]


def test_redirects_are_told_with_their_target(tmp_path: Path) -> None:
    site = read(
        make_site(
            tmp_path,
            {
                "/old/": page('<meta http-equiv="refresh" content="0; url=../new/">', "Redirecting."),
                "/older/": page("<META HTTP-EQUIV=Refresh CONTENT=\"0;URL='/new/'\">", "Redirecting."),
                "/new/": page(""),
                "/self/": page('<meta http-equiv="refresh" content="5; url=index.html">'),
                "/slow/": page('<meta http-equiv="refresh" content="300; url=../new/">'),
                "/again/": page('<meta http-equiv="refresh" content="30">'),
                "/scriptless/": page('<noscript><meta http-equiv="refresh" content="0; url=../no.html"></noscript>'),
            },
        )
    )
    assert pages(site) == [
        "again/index.html",
        "new/index.html",
        "scriptless/index.html",
        "self/index.html",
        "slow/index.html",
    ]
    assert reasons(site) == {"old/index.html": "it redirects to ../new/", "older/index.html": "it redirects to /new/"}


@pytest.mark.parametrize(
    ("meta", "kept"),
    [
        ('<meta name="robots" content="noindex">', False),
        ('<meta name="ROBOTS" content="NOFOLLOW, NoIndex">', False),
        ('<meta name="robots" content="none">', False),
        ('<meta name="googlebot" content="noindex">', False),
        ('<meta name="robots" content="index, follow, max-snippet:-1">', True),
        ('<meta name="description" content="noindex">', True),
    ],
)
def test_robots_marks_are_heeded(tmp_path: Path, meta: str, kept: bool) -> None:
    site = read(make_site(tmp_path, {"/a/": page(meta), "/b/": page("")}))
    assert ("a/index.html" in pages(site)) is kept
    assert kept or meta.split('name="')[1].split('"')[0].lower() in reasons(site)["a/index.html"]


@pytest.mark.parametrize(
    "mark", ["data-pagefind-ignore", 'data-nosnippet=""', 'class="robots-nocontent"', 'class="nosearch"']
)
def test_parts_that_a_page_keeps_out_of_searches_stay_out(tmp_path: Path, mark: str) -> None:
    body = f"<main><h1>A</h1><p>Kept words.</p><div {mark}><p>Secret words.</p></div></main>"
    text = "\n".join(piece.text for piece in read(make_site(tmp_path, {"/a/": body})).pages[0].pieces)
    assert "Kept words." in text and "Secret" not in text


def test_a_part_marked_for_the_search_is_the_content(tmp_path: Path) -> None:
    body = (
        "<main><p>Around.</p><div data-pagefind-body><p>One.</p></div><p>Between.</p>"
        "<div data-pagefind-body>Two.</div></main>"
    )
    assert [p.text for p in read(make_site(tmp_path, {"/a/": body})).pages[0].pieces] == ["One.\n\nTwo."]


def test_what_robots_txt_forbids_is_left_out_and_told(tmp_path: Path) -> None:
    root = make_site(tmp_path, {"/a/": page(""), "/private/b/": page("")})
    (root / "robots.txt").write_text("User-agent: special\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\n")
    site = read(root)
    assert pages(site) == ["a/index.html"]
    assert reasons(site) == {"private/b/index.html": "robots.txt forbids it"}


def test_a_robots_txt_that_forbids_everything_is_not_heeded_but_told(tmp_path: Path) -> None:
    root = make_site(tmp_path, {"/a/": page("")})
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /\n")
    site = read(root)
    assert pages(site) == ["a/index.html"] and "robots.txt forbids every page" in site.trouble[0]


SITEMAP = (
    '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    f"<url><loc>{HOST}</loc></url><url><loc>{HOST}a/</loc><lastmod>2026-05-01</lastmod></url></urlset>"
)


def test_a_sitemap_gives_addresses_and_changes_and_leaves_nothing_out(tmp_path: Path) -> None:
    root = make_site(tmp_path, {"index.html": page(""), "/a/": page(""), "/unlisted/": page("")})
    (root / "sitemap.xml").write_text(SITEMAP)
    found = {one.page: (one.address, one.modified) for one in read(root).pages}
    assert found == {
        "index.html": (HOST, ""), "a/index.html": (f"{HOST}a/", "2026-05-01"), "unlisted/index.html": ("", ""),
    }  # fmt: skip


def test_a_sitemap_of_sitemaps_is_followed_and_a_broken_one_told(tmp_path: Path) -> None:
    root = make_site(tmp_path, {"/a/": page("")})
    (root / "sitemap.xml").write_text(
        f"<sitemapindex><sitemap><loc>{HOST}one.xml</loc></sitemap><sitemap><loc>{HOST}sitemap.xml</loc></sitemap></sitemapindex>"
    )
    (root / "one.xml").write_text(SITEMAP)
    assert read(root).pages[0].modified == "2026-05-01"
    for data in ("<urlset><url>", '<!DOCTYPE x [<!ENTITY a "b">]><urlset/>', ""):
        (root / "sitemap.xml").write_text(data)
        site = read(root)
        assert pages(site) == ["a/index.html"]
        assert "cannot be used" in reasons(site)["sitemap.xml"]


def test_copies_for_language_models_are_not_indexed_twice(tmp_path: Path) -> None:
    root = make_site(tmp_path, {"guide/install.html": page(""), "/deep/": page("")})
    (root / "llms.txt").write_text("# Lantern")
    for copy in ("llms-full.md", "guide/install.md", "guide/install.html.md", "deep/index.md", "deep.md"):
        (root / copy).write_text("# T\n\nWords of this page.")
    site = read(root)
    assert pages(site) == ["deep/index.html", "guide/install.html"]
    assert len(site.skipped) == 5 and {one.kind for one in site.skipped} == {"built"}


def test_what_a_generator_keeps_beside_its_pages_is_left_out(tmp_path: Path) -> None:
    site = read(make_site(tmp_path, {"/a/": page(""), "_static/fonts/readme.html": page(""), "_sources/a.md": "# A"}))
    assert pages(site) == ["a/index.html"]
    assert {one.kind for one in site.skipped} == {"generator"}


def test_a_page_that_only_holds_a_search_field_is_left_out_and_one_about_searching_is_not(tmp_path: Path) -> None:
    field = page("", "Searching for multiple words only shows matches that contain all words.")
    about = page("", "How the search of Lantern ranks what it finds. " * 20)
    site = read(
        make_site(tmp_path, {"search.html": field, "/search/": field, "/guide/search/": about, "/a/": page("")})
    )
    assert pages(site) == ["a/index.html", "guide/search/index.html"]
    assert {one.kind for one in site.skipped} == {"search"}


def test_addresses_of_one_page_compare_equal() -> None:
    paths = {same_page(address.split("user.example", 1)[1]) for address in case("D11")["same_page"][0]}
    assert paths == {"g/install"}


def test_the_sites_address_is_what_most_pages_agree_on() -> None:
    assert (
        find_base([("a/index.html", f"{HOST}a/"), ("b.html", f"{HOST}b.html"), ("c.html", "https://x.example/")])
        == HOST
    )
    assert find_base([("a.html", "https://x.example/a"), ("b.html", "https://y.example/b")]) == ""
    assert find_base([("index.html", "https://x.example")]) == "https://x.example/"
    assert find_base([("a.html", "not an address")]) == ""


def test_a_page_that_gives_nothing_is_reported_whatever_it_is(tmp_path: Path) -> None:
    files = {
        "empty.html": "",
        "nul.html": "\0\0\0",
        "text.html": "plain words only",
        "binary.html": "\x89PNG\r\n",
        "script.html": "<script>x",
        "shell.html": '<body><div id="app"></div><script src="app.js"></script></body>',
        "ok.html": html_page("A", "x"),
    }
    site = read(make_site(tmp_path, files))
    assert {one.page for one in site.pages} | {one.file for one in site.skipped if one.lost} == set(files)
    assert "text.html" in pages(site)
    assert {"empty.html", "shell.html", "script.html"} <= {one.file for one in site.skipped if one.kind == "empty"}
