"""What stands in a paragraph keeps its meaning: powers, marks of footnotes, words that only styles keep apart, lists of
links that a sentence introduces."""

from __future__ import annotations

import pytest

from py_agent.site.chunk import chunk
from py_agent.site.html import read_html


def text(body: str) -> str:
    document = read_html(f"<html><body><main><h1>T</h1>{body}</main></body></html>")
    return "\n".join(block.text for section in document.sections for block in section.blocks)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("at most 2<sup>32</sup>-1 bytes", "at most 2^32-1 bytes"),
        ("(2<sup><small>48</small></sup> bytes)", "(2^48 bytes)"),
        ("10<sup>-9</sup> seconds", "10^-9 seconds"),
        ("O(N<sup>2</sup>) time", "O(N^2) time"),
        ("O(<i>n</i><sup>2</sup>)", "O(n^2)"),
        ("2<sup>n-1</sup> leaves", "2^(n-1) leaves"),
        ("3 km<sup>2</sup>", "3 km^2"),
        ("(a+b)<sup>2</sup>", "(a+b)^2"),
        ("the 4<sup>th</sup> and 1<sup>ST</sup>", "the 4th and 1ST"),
        ("Lantern<sup>TM</sup>", "LanternTM"),
        ("precedence<sup>1</sup> order", "precedence[1] order"),
        ('a word<sup><a href="#fn1">1</a></sup>.', "a word[1]."),
        ('version 3<sup class="footnote-ref"><a href="#fn1">[1]</a></sup>', "version 3[1]"),
        ('a word<sup><a class="headerlink" href="#x">¶</a></sup>', "a word"),
        ("H<sub>2</sub>O", "H2O"),
    ],
)
def test_a_raised_number_joins_no_other_number_and_no_word(source: str, expected: str) -> None:
    assert text(f"<p>{source}</p>") == expected
    assert text(f"<table><tr><td>{source}</td></tr></table>") == expected


def test_a_heading_keeps_its_power() -> None:
    document = read_html("<main><h2 id=a>More than 2<sup>31</sup> rows</h2><p>Words.</main>")
    assert document.sections[-1].heading == "More than 2^31 rows"


def test_labels_that_only_styles_keep_apart_do_not_run_together() -> None:
    labels = "<span>Added in: v9.0.0</span><span>Removed in: v10.0.0</span>"
    assert text(f"<div>{labels}</div>") == "Added in: v9.0.0 Removed in: v10.0.0"
    assert text("<p>see <span>read</span><span>File</span>()</p>") == "see readFile()"


LIST = '<ul><li><a href="#a">first()</a></li><li><a href="#b">second()</a></li><li><a href="#c">third()</a></li></ul>'


@pytest.mark.parametrize(
    "before",
    ["<p>The mode uses the <code>==</code> operator in:</p>", "Possible values:", "<p>以下 的值：</p><!-- x -->"],
)
def test_a_list_of_links_that_a_sentence_introduces_is_read(before: str) -> None:
    assert "- second()" in text(f"{before}\n{LIST}<h2 id=a>First</h2><p>Words.")


@pytest.mark.parametrize(
    "before", ["", "<p>Contents:</p>", "<p>On this page:</p>", "<p>In this article:</p>", "<p>Some words.</p>"]
)
def test_a_table_of_contents_is_not_read(before: str) -> None:
    assert "second()" not in text(f"{before}{LIST}<h2 id=a>First</h2><p>Words.")


def test_fields_of_a_function_stand_under_it_and_links_to_its_source_stay_out() -> None:
    link = '<a class="reference internal" href="_modules/a.html"><span class="viewcode-link">[source]</span></a>'
    fields = "".join(
        f"<dt>{name}<span class=colon>:</span></dt><dd><p>{'Words of it. ' * 60}</p></dd>" for name in "AB"
    )
    body = (
        f'<dl class=py><dt id=f>run(x){link}</dt><dd><p>Runs.</p><dl class="field-list simple">{fields}</dl></dd></dl>'
    )
    document = read_html(f"<main><h1 id=t>T</h1>{body}<p>After.</main>")
    pieces = chunk(document)
    assert {(piece.path[-1], piece.anchor) for piece in pieces} == {("run(x)", "f"), ("T", "t")}
    together = "\n".join(piece.text for piece in pieces)
    assert "A:" in together and "B:" in together and "[source]" not in together
