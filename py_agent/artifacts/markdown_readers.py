"""Readers of Markdown artifacts: what is in them, and one part at a time."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from py_agent.artifacts.markdown import Heading, Outline
from py_agent.artifacts.reading import CursorArgs, Reader, refusal, show_list
from py_agent.artifacts.shelf import Shelf
from py_agent.artifacts.spooled import SpooledArtifact
from py_agent.model.tool import UNDECLARED, ResultKind
from py_agent.prompt.wording import wording

_MARKDOWN: frozenset[ResultKind] = frozenset({"markdown"})


class HeadingsArgs(CursorArgs):
    """Arguments of ``artifact_md_headings``."""

    depth: int = Field(default=6, ge=1, le=6, description="Deepest level.")


class SectionArgs(CursorArgs):
    """Arguments of ``artifact_md_sections``: the cursor is a line of the text."""

    heading: str = Field(min_length=1, description="Its words, or its line.")
    start: int = Field(default=0, ge=0, json_schema_extra={UNDECLARED: True})


async def _headings(shelf: Shelf, artifact: SpooledArtifact, args: HeadingsArgs) -> str:
    found = await shelf.outline(args.call_id, artifact)
    entries = [
        f"{heading.line + 1}: {'#' * heading.level} {heading.text}"
        for heading in found.headings
        if heading.level <= args.depth
    ]
    shelf.show(args.call_id)
    again = f"depth {args.depth}" if args.depth < 6 else ""
    return await show_list(shelf, args, "artifact_md_headings", entries, what="headings", again=again)


async def _sections(shelf: Shelf, artifact: SpooledArtifact, args: SectionArgs) -> str:
    heading = _heading(await shelf.outline(args.call_id, artifact), args.heading)
    if heading is None:
        raise refusal("no_section", "bad_arguments", call=args.call_id, heading=args.heading[:100])
    line = min(max(args.start - 1, heading.line), heading.end - 1)
    page = await shelf.page(artifact, line, args.offset, heading.end)
    return shelf.show_page(args.call_id, page, "artifact_md_sections", heading.end)


def _heading(found: Outline, wanted: str) -> Heading | None:
    """The heading of this line number, these words, or the first whose words contain these."""
    words = " ".join(wanted.strip().lstrip("#").split()).casefold()
    for heading in found.headings:
        if words == str(heading.line + 1):
            return heading
    texts = [(" ".join(heading.text.split()).casefold(), heading) for heading in found.headings]
    exact = next((heading for text, heading in texts if text == words), None)
    return exact or next((heading for text, heading in texts if words and words in text), None)


async def _code_blocks(shelf: Shelf, artifact: SpooledArtifact, args: CursorArgs) -> str:
    found = await shelf.outline(args.call_id, artifact)
    # As a whole it is small enough: the outline has refused larger ones.
    lines = (await artifact.whole()).split("\n") if found.blocks else []
    entries = [
        f"Line {block.start + 1}{f', {block.info}' if block.info else ''}:\n"
        + "\n".join(lines[block.start : block.end])
        for block in found.blocks
    ]
    shelf.show(
        args.call_id, artifact.spans_of({line for block in found.blocks for line in range(block.start, block.end)})
    )
    return await show_list(shelf, args, "artifact_md_code_blocks", entries, what="code blocks")


async def _links(shelf: Shelf, artifact: SpooledArtifact, args: CursorArgs) -> str:
    found = await shelf.outline(args.call_id, artifact)
    entries = [
        f"{link.line + 1}: {'image ' if link.image else ''}{f'{link.text}: ' if link.text else ''}{link.target}"
        for link in found.links
    ]
    shelf.show(args.call_id)
    return await show_list(shelf, args, "artifact_md_links", entries, what="links")


async def _frontmatter(shelf: Shelf, artifact: SpooledArtifact, args: CursorArgs) -> str:
    found = await shelf.outline(args.call_id, artifact)
    if found.front is None or found.front[0] >= found.front[1]:
        return wording("artifact_measure", call=args.call_id, measure="front", value=0)
    line = min(max(args.start - 1, found.front[0]), found.front[1] - 1)
    page = await shelf.page(artifact, line, args.offset, found.front[1])
    return shelf.show_page(args.call_id, page, "artifact_md_frontmatter", found.front[1])


def _reader(name: str, description: str, args: Any, read: Any) -> Reader:
    return Reader(name=name, description=description, args=args, read=read, opens=_MARKDOWN)


#: What shows content, the most useful first.
CONTENT = (
    _reader("artifact_md_headings", "Lists the headings of kept Markdown.", HeadingsArgs, _headings),
    _reader("artifact_md_sections", "Reads a section of kept Markdown.", SectionArgs, _sections),
    _reader("artifact_md_code_blocks", "Reads the code in kept Markdown.", CursorArgs, _code_blocks),
    _reader("artifact_md_links", "Lists the links in kept Markdown.", CursorArgs, _links),
    _reader("artifact_md_frontmatter", "Reads the front matter.", CursorArgs, _frontmatter),
)
