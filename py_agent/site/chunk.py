"""Sections to passages: at most ``MAX_PASSAGE_CHARS``, cut at paragraphs and lines, code fenced in every piece."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from py_agent.model.passage import MAX_PASSAGE_CHARS
from py_agent.site.document import Block, Document, Section

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])")
_FENCE_RUN = re.compile(r"^\s*(`{3,})", re.MULTILINE)


#: A line of more backticks than this is a rule or an ornament: a fence that outdoes it leaves no room for the code.
MAX_FENCE_CHARS = 20


@dataclass(frozen=True)
class Piece:
    """A passage before it has an id. ``fragment`` has words to go to where ``anchor`` is not the passage's own."""

    anchor: str
    path: tuple[str, ...]
    text: str
    fragment: str = ""


def chunk(document: Document) -> list[Piece]:
    """The passages of a page in reading order."""
    pieces: list[Piece] = []
    for section in _merge(document.sections):
        fragment = section.heading if section.heading and (section.soft or not section.anchor) else ""
        if len(section.path) == 1 and not section.anchor and section.heading == document.title:
            fragment = ""  # the page's own heading: the address of the page leads there
        for text in _texts(section.blocks):
            pieces.append(Piece(section.anchor, section.path, text, fragment))
    return pieces


def _merge(sections: list[Section]) -> Iterator[Section]:
    """Takes terms without anchors back into what stands around them where all of it fits one passage."""
    index = 0
    while index < len(sections):
        first = sections[index]
        end = index + 1
        while end < len(sections) and (sections[end].depth > first.depth or _continues(first, sections[end])):
            if sections[end].depth > first.depth and not sections[end].soft:
                break
            end += 1
        group = sections[index:end]
        blocks = [block for section in group for block in section.blocks]
        if len(group) > 1 and _size(blocks) <= MAX_PASSAGE_CHARS:
            yield Section(first.heading, first.path, first.anchor, first.soft, first.depth, blocks)
            index = end
        else:
            yield first
            index += 1


def _continues(first: Section, later: Section) -> bool:
    return later.depth == first.depth and later.path == first.path and later.anchor == first.anchor


def _size(blocks: list[Block]) -> int:
    return sum(len(_render(block)) + 2 for block in blocks)


def _texts(blocks: list[Block]) -> Iterator[str]:
    text = ""
    for block in blocks:
        for part in _parts(block):
            joint = "\n" if part.tight else "\n\n"
            rendered = _render(part)
            if text and len(text) + len(joint) + len(rendered) > MAX_PASSAGE_CHARS:
                yield text
                text = ""
            text = f"{text}{joint}{rendered}" if text else rendered
    if text:
        yield text


def _parts(block: Block) -> Iterator[Block]:
    """The block itself, or pieces of it that fit a passage."""
    room = MAX_PASSAGE_CHARS
    if len(_render(block)) <= room:
        yield block
        return
    if block.kind == "code":
        room -= 2 * len(_fence(block.text)) + len(block.language) + 2
        units = [piece for line in block.text.split("\n") for piece in _cut(line, room)]
        joint = "\n"
    else:
        units = [
            piece
            for line in block.text.split("\n")
            for sentence in _SENTENCE_END.split(line)
            if sentence
            for piece in _cut(sentence, room)
        ]
        joint = " "
    text, tight = "", block.tight
    for unit in units:
        if text and len(text) + len(joint) + len(unit) > room:
            yield Block(text, block.kind, tight, block.language)
            text, tight = unit, True
        else:
            text = f"{text}{joint}{unit}" if text else unit
    if text:
        yield Block(text, block.kind, tight, block.language)


def _cut(line: str, room: int) -> Iterator[str]:
    while len(line) > room:
        at = line.rfind(" ", room // 2, room)
        at = at if at > 0 else room
        yield line[:at]
        line = line[at:].lstrip()
    yield line


def _render(block: Block) -> str:
    if block.kind != "code":
        return block.text
    fence = _fence(block.text)
    return f"{fence}{block.language}\n{block.text}\n{fence}"


def _fence(text: str) -> str:
    """A fence that no line of ``text`` closes; one of bounded length, for no reader tells rules of backticks apart."""
    longest = max((len(run) for run in _FENCE_RUN.findall(text)), default=2)
    return "`" * min(max(3, longest + 1), MAX_FENCE_CHARS)
