"""Whatever a page's bytes are, it is read or told, its passages fit, and their anchors exist."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from py_agent.model.passage import MAX_PASSAGE_CHARS
from py_agent.site.read import Site, find_files, read_site
from py_agent.site.reading import Reading, read_bytes

TAGS = (
    "p div section article main aside header footer nav h1 h2 h3 h6 ul ol li dl dt dd table tr td th caption pre code"
    " span a b sup details summary blockquote br img hr script style template noscript svg math title textarea select"
    " button iframe"
).split()
WORDS = st.sampled_from(
    ["Lantern", "keeps", "the cache", "x < y", "&amp;", "ü 安装", "—", "\x00", "\ufffd", "a" * 1700]
)
IDS = st.sampled_from(
    ["", " id=a", " id='b c'", ' id="ü"', " id=", ' class="note"', ' class="toc"', " hidden", " id='a'"]
)
OPEN = st.builds("<{}{}>".format, st.sampled_from(TAGS), IDS)
CLOSE = st.builds("</{}>".format, st.sampled_from(TAGS))
ODD = st.sampled_from(
    ["<!--", "-->", "<![CDATA[", "]]>", "<", "</", "<a href='#a'>", "<a name=z>", "<?x", "<!doctype html>"]
)
HTML = st.lists(st.one_of(WORDS, OPEN, CLOSE, ODD), max_size=60).map("".join)
LINES = st.sampled_from(
    [
        *"# Title|## Part {#own}|Title\n=====|Part\n----|```|~~~~python|    indented|- item|1. item|> quote".split("|"),
        *"term\n: meaning|<div id=x>|</div>|<!-- |---|+++|:::note|!!! tip|::|.. note::|.. code-block:: python".split(
            "|"
        ),
        *".. _label:|=== ===\na   b\n=== ===|*open|`open|[link][x]|[x]: y|$$|import x from 'y'|<Tabs>|{/* x".split("|"),
        *('=== "Tab"', "| a | b |\n|---|---|\n| 1 | 2 |", "{{< shortcode >}}", "\t", "   :name: x", "w" * 1700),
    ]
)
SOURCE = st.lists(LINES, max_size=30).map("\n".join)
NO_LOSS = settings(max_examples=150, deadline=None)


def ids_of(data: bytes) -> set[str]:
    tree = LexborHTMLParser(data)
    return {
        value
        for node in tree.css("[id], a[name]")
        for value in (node.attributes.get("id"), node.attributes.get("name"))
        if value
    }


def check(reading: Reading) -> None:
    for piece in reading.pieces:
        assert 0 < len(piece.text) <= MAX_PASSAGE_CHARS
        assert piece.text.strip()
    assert Reading.unpack(reading.pack()) == reading


@NO_LOSS
@given(HTML)
def test_any_tags_give_passages_that_fit_and_anchors_that_exist(page: str) -> None:
    data = page.encode()
    reading = read_bytes(data, ".html")
    check(reading)
    assert {piece.anchor for piece in reading.pieces} - {""} <= ids_of(data)


@NO_LOSS
@given(st.sampled_from([".md", ".mdx", ".rst"]), SOURCE)
def test_any_lines_of_a_source_give_passages_that_fit(suffix: str, page: str) -> None:
    check(read_bytes(page.encode(), suffix))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([".html", ".md", ".mdx", ".rst"]), st.one_of(st.binary(max_size=400), st.text().map(str.encode)))
def test_any_bytes_are_read(suffix: str, data: bytes) -> None:
    check(read_bytes(data, suffix))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(HTML.map(str.encode), st.binary(max_size=200)), min_size=1, max_size=6))
def test_every_file_becomes_a_page_or_is_told(pages: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for number, data in enumerate(pages):
            (root / f"{number}.html").write_bytes(data)
        files = find_files(root)
        site: Site = read_site(root, files)
        known = {page.page for page in site.pages} | {one.file for one in site.skipped if one.lost}
        assert known == set(files)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["Copper", "Nickel", "Zinc", "Silver"]), min_size=1, max_size=8),
    st.lists(OPEN, max_size=3),
)
def test_words_between_broken_tags_are_kept(words: list[str], broken: list[str]) -> None:
    soft = [tag for tag in broken if tag[1:].split(">")[0].split(" ")[0] in ("p", "div", "b", "span", "li", "h2", "td")]
    soft = [tag for tag in soft if "hidden" not in tag and "toc" not in tag]
    body = "".join(f"{soft[number % len(soft)] if soft else ''} {word} " for number, word in enumerate(words))
    reading = read_bytes(f"<main><h1>Metals</h1>{body}</main>".encode(), ".html")
    found = " ".join([*(part for piece in reading.pieces for part in piece.path), *(p.text for p in reading.pieces)])
    # A word that became a heading with nothing under it is no passage.
    if not any(tag.startswith("<h2") for tag in soft):
        assert all(found.count(word) >= words.count(word) for word in words)


@pytest.mark.parametrize("suffix", [".html", ".md", ".mdx", ".rst"])
@pytest.mark.parametrize(
    "data", [b"", b"\x00" * 5_000, b"\xff\xfe", b"\xef\xbb\xbf", b"<" * 20_000, b"[" * 3_000, b"> " * 1_500]
)
def test_extremes_are_read(suffix: str, data: bytes) -> None:
    check(read_bytes(data, suffix))


@pytest.mark.parametrize(
    "code",
    ["`" * 4_000, "`" * 900 + "\n" + "x" * 900, ("ab cd\n" * 10 + "`" * 300 + "\n") * 20],
    ids=["one", "two", "many"],
)
@pytest.mark.parametrize("language", ["", "c" * 3_000])
def test_rules_of_backticks_and_names_without_end_leave_room_for_code(code: str, language: str) -> None:
    reading = read_bytes(f"<main><pre class='language-{language}'>{code}</pre></main>".encode(), ".html")
    check(reading)
    assert sum(piece.text.count("x") for piece in reading.pieces) == code.count("x")
