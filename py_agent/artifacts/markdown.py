"""The parts of a Markdown text: front matter, headings, code blocks and links, each with its lines.

Read line by line, as far as a reader of documentation needs it; there is no parser of Markdown in the page. What stands
in a fence or in indented code is code, whatever it looks like.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable
from dataclasses import dataclass, field

from py_agent.artifacts.fitting import Breathe
from py_agent.prompt.code_spans import CodeTracker

#: Bytes of a text whose parts are listed at most: about a second of Python in a page. Its outline is held in memory.
MARKDOWN_LIMIT = 1_000_000

#: Characters of a line that are looked at for headings and links: no real one is longer, and a line may have megabytes.
LINE_CHARS = 2_000

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r" {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|\|)|[ \t]*$")
_LIST_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")
# Every part is possessive or bounded: a page cannot make them slow.
_LINK = re.compile(
    r"""(!?) \[ ( (?: [^\[\]\\] | \\. | \[[^\[\]]{0,200}+\] ){0,500}+ ) \]
    \( \s{0,9}+ (?: <([^<>\n]{0,1000}+)> | ([^\s()<>]{0,1000}+ (?:\([^\s()]{0,200}+\)[^\s()<>]{0,1000}+)?+) )
    (?: \s{1,9}+ (?: "[^"]{0,300}+" | '[^']{0,300}+' ) )?+ \s{0,9}+ \)""",
    re.VERBOSE,
)
_AUTO = re.compile(r"<((?:https?|mailto):[^\s<>]{1,1000})>")
_DEFINITION = re.compile(r" {0,3}\[([^\[\]]{1,200})\]:[ \t]{1,9}<?([^\s<>]{1,1000})>?")


@dataclass(frozen=True)
class Heading:
    """A heading. ``line`` counts from 0; ``end`` is the line before which its section ends, sub-sections included."""

    level: int
    text: str
    line: int
    end: int = 0


@dataclass(frozen=True)
class Block:
    """A code block: the lines of its code, counted from 0, ``end`` exclusive, and the words behind an opening fence."""

    info: str
    start: int
    end: int


@dataclass(frozen=True)
class Link:
    """A link or an image."""

    text: str
    target: str
    line: int
    image: bool = False


@dataclass
class Outline:
    """The parts of a text.

    Attributes:
        front: The lines of its front matter, without the marks; None if there is none.
        headings, blocks, links: In the order of the text.
        lines: How many lines there are.
    """

    front: tuple[int, int] | None = None
    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    lines: int = 0


async def outline(lines: AsyncIterable[tuple[int, str]], breathe: Breathe) -> Outline:
    """Reads all lines of a text, from the first on.

    Raises:
        KeyError, StorageError: What ``lines`` raises.
    """
    reader = _Reader()
    number = -1
    async for number, line in lines:
        reader.line(number, line[:LINE_CHARS].rstrip("\r"))
        await breathe()
    return reader.end(number + 1)


class _Reader:
    """Takes the lines one after the other."""

    def __init__(self) -> None:
        self._out = Outline()
        self._code = CodeTracker()
        self._front = False
        self._front_marks = ""
        self._fence: tuple[int, str] | None = None
        self._indented: tuple[int, int] | None = None
        self._paragraph: tuple[int, str] | None = None
        self._list = False

    def line(self, number: int, line: str) -> None:
        """Takes the next line, without its line feed."""
        if self._in_front_matter(number, line):
            return
        was = bool(self._code.fence)
        if not was and self._in_indented_code(number, line):
            return
        # In a list a fence stands as deep as the item's text.
        self._code.feed((line.lstrip(" ") if self._list else line) + "\n")
        if bool(self._code.fence) != was or was:
            self._fenced(number, line, was)
            return
        self._text(number, line)
        if line.strip():
            self._list = bool(_LIST_ITEM.match(line)) or (self._list and line[:1] in " \t")

    def end(self, lines: int) -> Outline:
        """The outline, once the last line was taken."""
        out = self._out
        out.lines = lines
        if self._front:
            out.front = None  # never closed: it was a line of dashes
        if self._fence is not None:
            out.blocks.append(Block(self._fence[1], self._fence[0], lines))
        self._end_indented()
        out.headings = _with_ends(out.headings, lines)
        return out

    def _in_front_matter(self, number: int, line: str) -> bool:
        mark = line.rstrip()
        if number == 0 and mark in ("---", "+++"):
            self._front, self._front_marks = True, mark
            self._out.front = (1, 1)
            return True
        if not self._front:
            return False
        if mark == self._front_marks or (self._front_marks == "---" and mark == "..."):
            self._front = False
            self._out.front = (1, number)
        return True

    def _in_indented_code(self, number: int, line: str) -> bool:
        deep = line.startswith(("    ", "\t"))
        if self._indented is not None:
            if deep:
                self._indented = self._indented[0], number + 1
            if deep or not line.strip():
                return True
            self._end_indented()
            return False
        # Behind text it is a continued paragraph, in a list it is a paragraph of the item.
        if deep and line.strip() and self._paragraph is None and not self._list:
            self._indented = number, number + 1
            return True
        return False

    def _end_indented(self) -> None:
        if self._indented is not None:
            self._out.blocks.append(Block("", *self._indented))
            self._indented = None

    def _fenced(self, number: int, line: str, was: bool) -> None:
        if not was:
            self._fence = number + 1, line.strip().lstrip("`~").strip()
        elif not bool(self._code.fence) and self._fence is not None:
            self._out.blocks.append(Block(self._fence[1], self._fence[0], number))
            self._fence = None
        self._paragraph = None

    def _text(self, number: int, line: str) -> None:
        heading = _ATX.match(line)
        if heading is not None:
            self._out.headings.append(Heading(len(heading[1]), (heading[2] or "").strip(), number))
            self._paragraph = None
            self._links(number, line)
            return
        underline = _UNDERLINE.match(line)
        if underline is not None and self._paragraph is not None:
            level = 1 if underline[1][0] == "=" else 2
            self._out.headings.append(Heading(level, self._paragraph[1], self._paragraph[0]))
            self._paragraph = None
            return
        if _NO_PARAGRAPH.match(line):
            self._paragraph = None
        elif self._paragraph is None:
            self._paragraph = number, line.strip()
        else:
            self._paragraph = self._paragraph[0], f"{self._paragraph[1]} {line.strip()}"[:LINE_CHARS]
        self._links(number, line)

    def _links(self, number: int, line: str) -> None:
        if "](" not in line and "<" not in line and "]:" not in line:
            return
        bare = _without_code_spans(line)
        found = [
            (match.start(), Link(match[2], match[3] or match[4] or "", number, bool(match[1])))
            for match in _LINK.finditer(bare)
        ]
        found += [(match.start(), Link("", match[1], number)) for match in _AUTO.finditer(bare)]
        definition = _DEFINITION.match(bare)
        if definition is not None:
            found.append((0, Link(definition[1], definition[2], number)))
        self._out.links += [link for _, link in sorted(found, key=lambda item: item[0])]


def _without_code_spans(line: str) -> str:
    """``line`` with blanks where it has inline code."""
    if "`" not in line:
        return line
    runs = [match.span() for match in re.finditer(r"`+", line)]
    closing: dict[int, int] = {}  # the nearest run behind, by length
    partner: list[int | None] = [None] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        partner[at] = closing.get(length)
        closing[length] = at
    out = line
    at = 0
    while at < len(runs):
        other = partner[at]
        if other is None:
            at += 1
            continue
        start, end = runs[at][0], runs[other][1]
        out = out[:start] + " " * (end - start) + out[end:]
        at = other + 1
    return out


def _with_ends(headings: list[Heading], lines: int) -> list[Heading]:
    """The headings with the ends of their sections: before the next heading that is not deeper."""
    ended: list[Heading] = []
    open_: list[tuple[int, int]] = []  # level and end, of the headings behind, the nearest last
    for heading in reversed(headings):
        while open_ and open_[-1][0] > heading.level:
            open_.pop()
        end = open_[-1][1] if open_ else lines
        ended.append(Heading(heading.level, heading.text, heading.line, end))
        open_.append((heading.level, heading.line))
    return ended[::-1]
