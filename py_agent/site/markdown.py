"""Markdown to sections: rendered to HTML with the heading ids that generators give, then read like any page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.attrs import attrs_block_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from py_agent.site.decode import decode
from py_agent.site.document import Document
from py_agent.site.html import read_html
from py_agent.site.markup import plain_markup

_OWN_ID = re.compile(r"\s*\{\s*#([^\s{}]+)[^{}]*\}\s*\Z")
_SLUG_DROPPED = re.compile(r"[^\w\- ]")
_FRONT_TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE)
_FRONT_DRAFT = re.compile(r"^(?:draft|unlisted):\s*true\s*$", re.MULTILINE | re.IGNORECASE)
_FRONT_LANGUAGE = re.compile(r"^lang(?:uage)?:\s*([A-Za-z-]+)\s*$", re.MULTILINE)


def read_markdown(data: bytes | str, *, mdx: bool = False) -> Document:
    """Reads a Markdown page: CommonMark, tables, definition lists, front matter, and what generators add to it.

    Args:
        data: The page.
        mdx: It may hold imports, exports and components: they are left out, the text between their tags stays.
    """
    source, wrong = decode(data) if isinstance(data, bytes) else (data, "")
    parser = _parser()
    if mdx:
        parser.disable("code")  # text between the tags of components is indented, and still no code
    environment: dict[str, Any] = {}
    tokens = parser.parse(plain_markup(source, mdx=mdx), environment)
    front = next((token.content for token in tokens if token.type == "front_matter"), "")
    _name_headings(tokens)
    body = parser.renderer.render(
        [token for token in tokens if token.type != "front_matter"], parser.options, environment
    )
    # Raw HTML in Markdown may leave elements open; a body of its own keeps the reader's rules the same.
    document = read_html(f"<!doctype html><html><body><main>{body}</main></body></html>")
    document.problems += [wrong] if wrong else []
    if title := _FRONT_TITLE.search(front):
        document.title = document.title or title[1].strip("'\"")
    if language := _FRONT_LANGUAGE.search(front):
        document.language = language[1]
    if draft := _FRONT_DRAFT.search(front):
        document.head.noindex = f"{draft[0].strip()} in its front matter"
    return document


def slug(heading: str) -> str:
    """The id that GitHub and most generators give a heading."""
    return _SLUG_DROPPED.sub("", heading.strip().lower()).replace(" ", "-")


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return parser.use(front_matter_plugin).use(deflist_plugin).use(attrs_block_plugin).use(footnote_plugin)


def _name_headings(tokens: Sequence[Token]) -> None:
    used: dict[str, int] = {}
    first = True
    for index, token in enumerate(tokens):
        if token.type != "heading_open" or token.level:
            continue
        inline = tokens[index + 1]
        own = _take_own_id(inline)
        # The page's own heading needs no anchor: the page's address leads there.
        if first and token.tag == "h1" and not own and not token.attrGet("id"):
            used[slug(_text(inline))] = 1
            first = False
            continue
        first = False
        if not own:
            base = slug(_text(inline))
            own = base if base not in used else f"{base}-{used[base]}"
            used[base] = used.get(base, 0) + 1
        if not token.attrGet("id") and own:
            token.attrSet("id", own)


def _take_own_id(inline: Token) -> str:
    """Removes ``{#id}`` from the end of a heading and returns the id."""
    last = inline.children[-1] if inline.children else None
    match = _OWN_ID.search(last.content) if last is not None and last.type == "text" else None
    if last is None or match is None:
        return ""
    last.content = last.content[: match.start()]
    return match[1]


def _text(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [] if child.type in ("text", "code_inline"))
