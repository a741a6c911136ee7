"""Which files of a folder become pages, and that nothing is left out in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.model.errors import ConfigError
from py_agent.site.read import find_files
from tests.sites import html_page, make_site, read, texts


def test_an_empty_a_missing_and_a_file_site_are_errors_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for site, words in (
        (tmp_path, "holds no .html"),
        (tmp_path / "no", "does not exist"),
        (tmp_path / "file", "a file"),
    ):
        with pytest.raises(ConfigError, match=words) as caught:
            find_files(site)
        assert caught.value.hint


def test_lists_of_links_error_pages_and_noindex_pages_are_reported(tmp_path: Path) -> None:
    links = "".join(f'<li><a href="p{n}.html">Entry {n}</a>' for n in range(200))
    site = read(
        make_site(
            tmp_path,
            {
                "genindex.html": f"<main><h1>Index</h1><ul>{links}</ul></main>",
                "404.html": html_page("Not found", "There is no such page."),
                "search.html": '<meta name=robots content="noindex"><main><p>Type a word.</main>',
                "empty.html": "<main></main>",
                "a.html": html_page("A", "Text."),
            },
        )
    )
    assert [page.page for page in site.pages] == ["a.html"]
    assert {one.file for one in site.skipped} == {"genindex.html", "404.html", "search.html", "empty.html"}


def test_a_list_of_links_goes_and_the_text_beside_it_stays(tmp_path: Path) -> None:
    links = "".join(f'<li><a href="p{n}.html">Entry number {n}</a>' for n in range(20))
    page = f"<main><h1>Welcome</h1><p>Read this first, before you go on.</p><h2>Contents</h2><ul>{links}</ul></main>"
    text = texts(read(make_site(tmp_path, {"index.html": page})), "index.html")
    assert "Read this first" in text
    assert "Entry number" not in text


def test_the_whole_manual_on_one_page_is_left_out(tmp_path: Path) -> None:
    bodies = [f"<h1>Chapter {n}</h1><p>{f'Words of chapter {n}. ' * 8}</p>" for n in range(4)]
    pages = {f"c{n}.html": f"<main>{body}</main>" for n, body in enumerate(bodies)}
    site = read(make_site(tmp_path, {**pages, "all.html": f"<main>{''.join(bodies)}</main>"}))
    assert [one.file for one in site.skipped] == ["all.html"]
    assert len(site.pages) == 4


def test_built_pages_win_over_their_markdown(tmp_path: Path) -> None:
    site = read(
        make_site(tmp_path, {"guide/index.html": html_page("Guide", "Built."), "guide.md": "# Guide\n\nSource."})
    )
    assert [page.page for page in site.pages] == ["guide/index.html"]
    assert "indexed instead" in site.skipped[0].reason


def test_the_installed_agent_is_no_part_of_the_site_but_a_folder_of_that_name_is(tmp_path: Path) -> None:
    make_site(tmp_path, {"agent/demo.html": html_page("Demo", "x"), "a.html": html_page("A", "x")})
    assert find_files(tmp_path) == ["a.html", "agent/demo.html"]
    (tmp_path / "agent" / "py-agent.js").write_text("")
    assert find_files(tmp_path) == ["a.html"]
