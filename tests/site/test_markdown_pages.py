"""Markdown: the anchors that generators give, and code that is no heading."""

from __future__ import annotations

import re
from pathlib import Path

from py_agent.model.passage import MAX_PASSAGE_CHARS
from tests.sites import CASES, case, make_site, read, texts


def test_headings_have_the_anchors_that_generators_give(tmp_path: Path) -> None:
    expect = case("D03")["expect"]
    site = read(make_site(tmp_path, {"/guide/memory/": CASES / "D03.memory.md"}))
    pieces = site.pages[0].pieces
    assert [(piece.path[-1], f"#{piece.anchor}") for piece in pieces[1:]] == [tuple(one) for one in expect["sections"]]
    assert (pieces[0].anchor, pieces[0].text) == ("", "Intro text.")
    assert pieces[-2].text == "Second setup."
    text = texts(site, "guide/memory/index.html")
    assert [word for word in expect["lacks"] if word in text] == []


def test_comments_in_code_are_no_headings_and_an_open_fence_loses_nothing(tmp_path: Path) -> None:
    given = case("D05")
    site = read(make_site(tmp_path, {page: CASES / file for page, file in given["files"].items()}))
    text = "\n".join(texts(site, page.page) for page in site.pages)
    assert [word for word in given["expect"]["contains"] if word not in text] == []
    scripts = next(page for page in site.pages if page.page.startswith("guide/scripts"))
    assert [piece.path[-1] for piece in scripts.pieces] == given["expect"]["sections_of"]["/guide/scripts/"]
    for piece in scripts.pieces:
        outer: list[str] = []  # fences of three inside one of four are text
        for fence in re.findall(r"^`{3,}", piece.text, re.MULTILINE):
            if outer and len(fence) >= len(outer[-1]):
                outer.pop()
            elif not outer:
                outer.append(fence)
        assert outer == []


def test_long_code_is_cut_between_lines_and_fenced_in_every_piece(tmp_path: Path) -> None:
    site = read(make_site(tmp_path, {"/guide/long/": CASES / "D05.long.md"}))
    source = [line for line in (CASES / "D05.long.md").read_text().splitlines() if line.startswith("line_")]
    pieces = site.pages[0].pieces
    found = [line for piece in pieces for line in piece.text.split("\n") if line.startswith("line_")]
    assert found == source
    for piece in pieces:
        assert len(piece.text) <= MAX_PASSAGE_CHARS
        assert piece.path[-1] == "Long example"
        fences = re.findall(r"^```(\w*)$", piece.text, re.MULTILINE)
        assert fences[::2] == ["python"] * (len(fences) // 2) and fences[1::2] == [""] * (len(fences) // 2)


def test_the_ids_of_the_built_page_win_over_those_of_its_source(tmp_path: Path) -> None:
    built = "<main><h1>Memory</h1><h2 id=own-setup>Setup</h2><p>Built words.</p></main>"
    root = make_site(tmp_path, {"/guide/memory/": CASES / "D03.memory.md"})
    make_site(tmp_path, {"/guide/memory/": built})
    site = read(root)
    assert [piece.anchor for page in site.pages for piece in page.pieces] == ["own-setup"]
    assert "is indexed instead" in site.skipped[0].reason


def test_front_matter_gives_the_title_where_the_page_has_no_heading(tmp_path: Path) -> None:
    site = read(make_site(tmp_path, {"a.md": "---\ntitle: 'Named here'\n---\n\nOnly text.\n"}))
    assert site.pages[0].title == "Named here"
    assert texts(site, site.pages[0].page).endswith("Only text.")
