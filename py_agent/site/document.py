"""A page after reading: its title, language and sections, whatever format it had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from py_agent.site.head import Head


@dataclass
class Block:
    """A paragraph, a list item, a table row or a piece of code.

    ``tight`` blocks follow the one before on the next line (list items, table rows), others after an empty line.
    """

    text: str
    kind: Literal["text", "code"] = "text"
    tight: bool = False
    language: str = ""


@dataclass
class Section:
    """What stands under one heading, or under one term of a definition list.

    Attributes:
        heading: The heading's or term's text; empty before the first heading.
        path: The headings above, and this one, outermost first.
        anchor: The id that leads here without ``#``; empty where there is none.
        soft: A term without an anchor of its own: it may be merged with what stands around it.
        depth: How many definition lists deep it is; 0 for headings.
        chars, linked, links: Characters of its text, how many of them stand in links, and the number of links.
    """

    heading: str = ""
    path: tuple[str, ...] = ()
    anchor: str = ""
    soft: bool = False
    depth: int = 0
    blocks: list[Block] = field(default_factory=list)
    chars: int = 0
    linked: int = 0
    links: int = 0


@dataclass
class Document:
    """A page as read.

    Attributes:
        title: The first top-level heading, else the page's ``<title>``, else empty.
        site_title: What ``<title>`` says besides the page's own title: the site's name, where pages carry it.
        language: Language tag of the page, empty if it does not say.
        problems: What a person should know of the file (an unclosed comment swallowed its end ...).
        head: What the page says of itself: robots, canonical address, redirect, alternates.
        link_lists: Number of sections left out because they were nothing but links.
    """

    title: str = ""
    site_title: str = ""
    language: str = ""
    sections: list[Section] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    head: Head = field(default_factory=Head)
    link_lists: int = 0
