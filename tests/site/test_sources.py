"""Sources as generators take them: Markdown with additions, MDX, reStructuredText. No text is lost, no markup leaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from py_agent.site.chunk import Piece, chunk
from py_agent.site.document import Document
from py_agent.site.markdown import read_markdown
from py_agent.site.rst import read_rst

SOURCES = Path(__file__).parents[1] / "fixtures" / "sources"
EVERY = sorted(path.name for path in SOURCES.iterdir())


def read(name: str) -> Document:
    data = (SOURCES / name).read_bytes()
    return read_rst(data) if name.endswith(".rst") else read_markdown(data, mdx=name.endswith(".mdx"))


def pieces(name: str) -> list[Piece]:
    return chunk(read(name))


def markdown(source: str, *, mdx: bool = False) -> str:
    return "\n\n".join(piece.text for piece in chunk(read_markdown(source, mdx=mdx)))


def rst(source: str) -> str:
    return "\n\n".join("\n\n".join([*piece.path, piece.text]) for piece in chunk(read_rst(source)))


@pytest.mark.parametrize("name", EVERY)
def test_a_source_reads_like_its_page(name: str) -> None:
    found = pieces(name)
    text = "\n\n".join(piece.text for piece in found)
    assert read(name).title == "Install"
    for words in (
        "Lantern needs Python 3.11 or newer.",
        "```sh\npip install lantern\nlantern init --port 8080\n```",
        "conda install lantern",
        "The installer rewrites lantern.toml.\n- It keeps comments.",
        "Copy the wheel by hand.",
        "        raise PermissionError(port)",
    ):
        assert words in text, words
    for mark in (":::", "!!!", "===", "import ", "export", "<Tab", "</", "..", ":ref:", "toctree", "{#", "title="):
        assert mark not in text, mark
    assert {piece.path[-1]: piece.anchor for piece in found}["Get the package"] in ("get", "get-the-package")


@pytest.mark.parametrize("name", ["install.mdx", "material.md", "vitepress.md"])
def test_tabs_of_a_source_are_kept_under_their_names(name: str) -> None:
    text = "\n\n".join(piece.text for piece in pieces(name))
    assert text.index("pip:") < text.index("pip install") < text.index("conda:") < text.index("conda install")


def test_boxes_keep_their_titles() -> None:
    assert markdown("!!! note\n    Body.\n\nAfter.") == "Note\n\nBody.\n\nAfter."
    assert markdown('!!! note ""\n    Body.') == "Body."
    assert markdown(":::tip[Do this]\nBody.\n:::\nAfter.") == "Do this\n\nBody.\n\nAfter."
    assert markdown("::: danger\nOuter.\n:::: info Inner\nDeep.\n::::\n:::") == "Danger\n\nOuter.\n\nInner\n\nDeep."
    assert markdown("> [!WARNING]\n> Body.") == "Warning\n\nBody."


def test_what_looks_like_an_addition_inside_code_stays() -> None:
    code = '```\n::: tip\n!!! note\n=== "x"\nimport a from "b"\n<Tabs>\n{{< x >}}\n```'
    assert markdown(code) == markdown(code, mdx=True) == code


def test_mdx_loses_its_modules_and_tags_and_keeps_the_text_between() -> None:
    source = (
        "import X from 'x';\nexport const meta = {\n  a: [1,\n 2],\n};\n\n# Title\n\n{/* a note */}\n"
        '<Card title="x" onClick={() => { go({a: 1}); }}>\n    Inside the card.\n</Card>\n\n'
        "A <Badge text='new'/> word and `<Tabs>` and `{x}`, and <b>bold</b>.{' '}End.\n"
    )
    text = markdown(source, mdx=True)
    assert text == "Inside the card.\n\nA word and <Tabs> and {x}, and bold. End."


def test_shortcodes_leave_their_words() -> None:
    assert markdown('{{% alert title="Mind this" %}}\nBody.\n{{% /alert %}}') == "Mind this Body."
    assert markdown('See {{< ref "page.md" >}} there.') == "See there."


def test_drafts_are_left_out_and_footnotes_stay() -> None:
    assert read_markdown("---\ndraft: true\n---\n\n# A\n\nText.").head.noindex == "draft: true in its front matter"
    assert "Said at the end." in markdown("A word[^1].\n\n[^1]: Said at the end.")


def test_sphinx_roles_and_directives_lose_no_text() -> None:
    source = """
Title
=====

.. _label-here:

Named part
----------

See :ref:`label-here`, :ref:`the text <elsewhere>`, :func:`~package.module.run`, :unknownrole:`some words`.

.. unknowndirective:: Argument words
   :option: 1
   :option: 2

   Content words.

.. math::
   :nowrap:
   :label: x

   a + b

.. c:macro:: FLAG_A
             FLAG_B

   What the flags do.

.. deprecated:: 2.0 Use something else.

.. toctree::

   other
"""
    text = rst(source)
    for words in (
        "See Named part, the text, run(), some words.", "Argument words\n\nContent words.", "a + b", "FLAG_A, FLAG_B",
        "What the flags do.", "Deprecated since version 2.0: Use something else.",
    ):  # fmt: skip
        assert words in text, words
    assert "other" not in text and ":option:" not in text


def test_nothing_is_included_from_other_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret words")
    text = rst(
        f"Title\n=====\n\n.. include:: {secret}\n\n.. literalinclude:: {secret}\n\n"
        f".. raw:: html\n   :file: {secret}\n\nEnd."
    )
    assert "secret words" not in text and "End." in text


words = st.text(alphabet="abc xyz", min_size=1, max_size=20).filter(lambda text: bool(text.strip()))
additions = st.sampled_from(
    ["{}", "::: tip {}", ":::", "!!! note", "    {}", '=== "{}"', 
     "> [!NOTE]", "```", "<Tab>{}", "</Tab>", "- {}", "import {}",
     "{{{{< x >}}}}", "# {}", "| {} |", "{{{}}}", "<Tab label=\"{}\">", "\t{}"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(additions, words), max_size=12), st.booleans())
@example([("```", "a"), ("::: tip {}", "b")], True)
def test_no_mix_of_additions_raises(lines: list[tuple[str, str]], mdx: bool) -> None:
    read_markdown("\n".join(form.format(text) for form, text in lines), mdx=mdx)


@settings(max_examples=60, deadline=None)
@given(st.lists(words, min_size=1, max_size=6))
def test_text_between_additions_is_never_lost(texts: list[str]) -> None:
    source = "\n\n".join(f"::: note\n{text}\n:::\n\n<Card>\n{text}\n</Card>" for text in texts)
    found = markdown(source, mdx=True)
    for letter in "abcxyz":
        assert found.count(letter) - found.count("Note") * "Note".count(letter) == 2 * sum(
            t.count(letter) for t in texts
        )
