"""HTML pages: what is content, where its anchors are, and what broken markup costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.site.html import read_html
from tests.sites import CASES, case, make_site, read, texts


def test_chrome_stays_out_and_the_title_inside_a_header_stays_in(tmp_path: Path) -> None:
    expect = case("D01")["expect"]
    site = read(make_site(tmp_path, {"/guide/caching/": CASES / "D01.caching.html"}))
    text = texts(site, "guide/caching/index.html")
    assert [word for word in expect["contains"] if word not in text] == []
    assert [word for word in expect["lacks"] if word in text] == []
    assert site.pages[0].title == expect["title"]
    assert [piece.anchor for piece in site.pages[0].pieces] == ["", "ttl", "purge"]
    assert [piece.fragment for piece in site.pages[0].pieces] == ["", "", ""]  # the lead belongs to the page itself


@pytest.mark.parametrize("page", sorted(case("D13")["expect"]["per_file"]))
def test_broken_html_keeps_its_text_or_is_reported(tmp_path: Path, page: str) -> None:
    given = case("D13")
    expect = given["expect"]["per_file"][page]
    site = read(make_site(tmp_path, {page: CASES / given["files"][page]}))
    text = texts(site, f"{page.strip('/')}/index.html")
    reported = [one.reason for one in site.skipped]
    still_open = {"/open-script/", "/comment/", "/title/"}
    assert (page in still_open) <= any("never closed" in reason for reason in reported)
    if expect.get("reported"):
        assert any("never closed" in reason for reason in reported)
    if not expect.get("reported_or_ok") or not reported:
        assert [word for word in expect["contains"] if word not in text] == []
    assert [word for word in expect.get("lacks", []) if word in text] == []
    assert "title" not in expect or site.pages[0].title == expect["title"]


def test_hidden_text_is_not_indexed(tmp_path: Path) -> None:
    text = texts(read(make_site(tmp_path, {"/p/": CASES / "W03.hidden.html"})), "p/index.html")
    assert "Plugins live" in text and "Visible end." in text
    assert [f"hidden{number}" for number in (1, 2, 3, 4, 6) if f"hidden{number}" in text] == []


def anchors(body: str) -> list[tuple[str, str]]:
    document = read_html(f"<html><body><main>{body}</main></body></html>")
    return [(section.heading, section.anchor) for section in document.sections if section.blocks]


@pytest.mark.parametrize(
    "body",
    [
        "<h2 id=x>Heading</h2><p>Text.",
        "<section id=x><h2>Heading</h2><p>Text.</section>",
        "<div id=x><h2>Heading</h2><p>Text.</div>",
        '<a name="x"></a><h2>Heading</h2><p>Text.',
        '<h2><a id="x"></a>Heading</h2><p>Text.',
        '<h2>Heading<span><a class="mark" href="#x" id="x">#</a></span></h2><p>Text.',
        '<section id=x><h2>Heading<a class="headerlink" href="#x">¶</a></h2><p>Text.</section>',
        '<dl><dt id=x>Heading<a class="headerlink" href="#x">¶</a></dt><dd>Text.</dd></dl>',
    ],
)
def test_the_nearest_real_anchor_is_found(body: str) -> None:
    assert anchors(body) == [("Heading", "x")]


def test_an_anchor_that_does_not_exist_or_is_taken_is_not_used() -> None:
    assert anchors('<h2>One<a class="headerlink" href="#gone">¶</a></h2><p>Text.') == [("One", "")]
    assert anchors("<h2 id=x>One</h2><p>Text.<h2 id=x>Two</h2><p>Text.") == [("One", "x"), ("Two", "")]


def test_a_section_id_belongs_to_its_first_heading_only() -> None:
    body = "<div id=x><h2>One</h2><p>Text.</p><h2>Two</h2><p>Text.</p></div>"
    assert anchors(body) == [("One", "x"), ("Two", "")]


def blocks(body: str) -> list[str]:
    document = read_html(f"<html><body><main>{body}</main></body></html>")
    return [block.text for section in document.sections for block in section.blocks]


def test_code_keeps_its_lines_without_line_numbers_and_copy_buttons() -> None:
    body = (
        '<div class="highlight-python"><table><tr><td class="linenos"><pre>1\n2</pre></td><td class="code">'
        "<pre><span>def f():</span>\n    <b>return</b> 1\n</pre><button>Copy</button></td></tr></table></div>"
    )
    assert blocks(body) == ["def f():\n    return 1"]


def test_tables_give_a_line_a_row_and_lists_an_item_a_line() -> None:
    assert blocks("<table><tr><th>Key<th>Use<tr><td>ttl<td>Time  to\nlive</table>") == ["Key\tUse", "ttl\tTime to live"]
    assert blocks("<ul><li>One <b>bold</b><li><p>Two</ul><ol><li>A<li>B</ol>") == [
        "- One bold",
        "- Two",
        "1. A",
        "2. B",
    ]


def test_words_of_neighbouring_blocks_do_not_run_together() -> None:
    assert blocks("<div>One<div>Two</div>Three</div><p>Four<br>Five") == ["One", "Two", "Three", "Four\nFive"]


def test_two_terms_with_one_explanation_are_one_section() -> None:
    assert anchors("<dl><dt id=a>-f</dt><dt id=b>--force</dt><dd>Force.</dd><dt id=c>-n</dt><dd>Dry.</dd></dl>") == [
        ("-f, --force", "a"),
        ("-n", "c"),
    ]


def test_deep_nesting_does_not_exhaust_the_stack() -> None:
    assert any("deep words" in text for text in blocks("<div>" * 3_000 + "deep words"))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("<p>naïve".encode("utf-8-sig"), "naïve"),
        ("\ufeff<p>naïve".encode("utf-16-le"), "naïve"),
        ('<meta charset="iso-8859-1"><p>naïve – “so”'.encode("windows-1252"), "naïve – “so”"),
        ('<meta charset="shift_jis"><p>日本'.encode("shift_jis"), "日本"),
        ('<meta charset="nonsense"><p>naïve'.encode(), "naïve"),
        ("<p>naïve".encode("latin-1"), "naïve"),
    ],
)
def test_encodings_are_read_as_browsers_do(data: bytes, expected: str) -> None:
    assert read_html(data).sections[0].blocks[0].text == expected
