"""Markdown artifacts: headings, sections, code, links and front matter, and nothing of these in code."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_agent.artifacts.markdown import MARKDOWN_LIMIT, Outline, outline
from py_agent.model.tool import Span, ToolError, ToolResult
from py_agent.runner.breathe import Breather
from tests.artifacts.shelves import body, call, kept, shelf_of

TEXT = """---
title: Guide
---
# Guide ##

Intro with a [link](https://a.example/x_(y) "title"), an ![image](shot.png), `[no](link)` and <https://b.example>.

Install
-------

1. Do this:

    ```bash
    # not a heading
    pip install lantern
    ```

2. Then that.

## Use it

```python title="x"
# no heading
[no](link)
```

    indented = "code"
    # still code

### Deep

~~~
``` inside
~~~~

Text
    # a continued line, no code

[ref]: ./other.md
#no heading
####### no heading

## Use it again
"""


async def outline_of(text: str) -> Outline:
    async def lines() -> object:
        for number, line in enumerate(text.split("\n")):
            yield number, line

    return await outline(lines(), Breather(50))  # type: ignore[arg-type]


async def test_headings_are_found_and_code_has_none() -> None:
    found = await outline_of(TEXT)
    assert [(heading.level, heading.text) for heading in found.headings] == [
        (1, "Guide"),
        (2, "Install"),
        (2, "Use it"),
        (3, "Deep"),
        (2, "Use it again"),
    ]
    lines = TEXT.split("\n")
    assert [lines[heading.line] for heading in found.headings][:2] == ["# Guide ##", "Install"]


async def test_code_blocks_fenced_in_lists_and_indented() -> None:
    found = await outline_of(TEXT)
    lines = TEXT.split("\n")
    assert [(block.info, lines[block.start : block.end]) for block in found.blocks] == [
        ("bash", ["    # not a heading", "    pip install lantern"]),
        ('python title="x"', ["# no heading", "[no](link)"]),
        ("", ['    indented = "code"', "    # still code"]),
        ("", ["``` inside"]),
    ]


async def test_links_images_and_definitions_outside_code() -> None:
    found = await outline_of(TEXT)
    assert [(link.text, link.target, link.image) for link in found.links] == [
        ("link", "https://a.example/x_(y)", False),
        ("image", "shot.png", True),
        ("", "https://b.example", False),
        ("ref", "./other.md", False),
    ]


async def test_front_matter_only_at_the_top_and_only_if_closed() -> None:
    assert (await outline_of(TEXT)).front == (1, 2)
    assert (await outline_of("---\ntitle: x\n# A heading\n")).front is None
    assert (await outline_of("\n---\ntitle: x\n---\n")).front is None


async def test_an_open_fence_reaches_to_the_end() -> None:
    found = await outline_of("# A\n```\n# b\n")
    assert [heading.text for heading in found.headings] == ["A"]
    assert [(block.start, block.end) for block in found.blocks] == [(2, 4)]


async def test_the_readers_show_the_parts() -> None:
    shelf = await kept(TEXT, "markdown", reader_tokens=500)
    headings = body(await call(shelf, "artifact_md_headings", depth=2), "artifact_md_headings").split("\n")
    assert headings == ["4: # Guide", "8: ## Install", "20: ## Use it", "43: ## Use it again"]
    section = await call(shelf, "artifact_md_sections", heading="use it")
    assert "### Deep" in section
    assert "Use it again" not in section
    assert section.endswith("That was all of this part of c1.")
    assert "pip install" in await call(shelf, "artifact_md_sections", heading="8")
    assert "title: Guide" in await call(shelf, "artifact_md_frontmatter")
    blocks = await call(shelf, "artifact_md_code_blocks")
    assert "Line 14, bash:\n    # not a heading\n    pip install lantern" in blocks
    assert "image image: shot.png" in await call(shelf, "artifact_md_links")
    with pytest.raises(ToolError, match=r'no heading "Nowhere"\. artifact_md_headings'):
        await call(shelf, "artifact_md_sections", heading="Nowhere")


async def test_a_long_section_goes_on_inside_itself() -> None:
    text = "# A\n" + "words of A\n" * 200 + "# B\n" + "words of B\n" * 50
    shelf = await kept(text, "markdown", reader_tokens=200)
    start, seen = 0, ""
    for _ in range(50):
        told = await call(shelf, "artifact_md_sections", heading="A", start=start)
        seen += body(told, "artifact_md_sections") + "\n"
        if "That was all of this part" in told:
            break
        start = int(told.rsplit("start ", 1)[1].rstrip("."))
    assert seen == text[: text.index("# B")]


async def test_a_section_shows_its_passages() -> None:
    text = "# A\nof a\n# B\nof b\n"
    spans = (Span(passage="p1", start=1, end=2), Span(passage="p2", start=3, end=4))
    shelf = shelf_of(inline_tokens=0)
    await shelf.take("c1", "tool", ToolResult(text=text, spans=spans, kind="markdown"))
    await call(shelf, "artifact_md_sections", heading="B")
    assert shelf.ledger.shown == ("p2",)


@settings(deadline=None)
@given(st.text(alphabet="#`~-=[]()<>! \n\tab:/.\\\"'1", max_size=300))
async def test_any_text_has_an_outline_whose_parts_lie_in_it(text: str) -> None:
    found = await outline_of(text)
    lines = text.split("\n")
    for heading in found.headings:
        assert 0 <= heading.line < heading.end <= len(lines)
    for block in found.blocks:
        assert 0 < block.start <= block.end <= len(lines) or block.start == 0
    fenced = {line for block in found.blocks for line in range(block.start, block.end)}
    assert not fenced & {heading.line for heading in found.headings}
    assert not fenced & {link.line for link in found.links}


@pytest.mark.parametrize(
    "unit", ["[", "[a](", "[](", "`", "``` `", "![[](<", "[a]( '", "*" * 50, "<https:", "[\\", "] (", "# "]
)
async def test_no_line_takes_long(unit: str) -> None:
    text = "\n".join([unit * (4_000 // len(unit))] * 50)
    begun = time.perf_counter()
    await outline_of(text)
    assert time.perf_counter() - begun < 1


async def test_a_text_above_the_limit_is_refused_and_other_readers_are_named() -> None:
    shelf = await kept("# Heading\n\nSome words.\n" * (MARKDOWN_LIMIT // 20), "markdown", reader_tokens=400)
    with pytest.raises(ToolError, match=r"at most 1M.*artifact_head and artifact_grep"):
        await call(shelf, "artifact_md_headings")
    assert "Some words" in await call(shelf, "artifact_head")
