"""Does a citation hold? Looked up in the site's own HTML files, with nothing from the indexer or the gates."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

_WORDS = re.compile(r"\w+")

# Elements that do not end a word: "<b>un</b>done" is one. Any other element does.
_INLINE = set("a abbr b bdi bdo cite code dfn em i kbd mark q s samp small span strong sub sup tt u var wbr".split())


class CitationError(AssertionError):
    """A citation does not hold: the page or anchor is missing, or the quoted words do not stand there."""


def verify_citation(site: Path, page: str, anchor: str, quote: str) -> None:
    """Checks one citation against the file on disk.

    The words of the quote, in order and nothing between them, must stand in the page at or after the anchor. Words
    are compared, not characters: where a table's cells or a line's breaks become spaces is the reader's affair.

    Args:
        site: The folder that was indexed.
        page: File relative to ``site``.
        anchor: Id of an element, or empty for the whole page.
        quote: The words.

    Raises:
        CitationError: With the reason.
    """
    file = (site / page).resolve()
    if not file.is_file() or not file.is_relative_to(site.resolve()):
        raise CitationError(f"{page}: the site has no such page")
    if file.suffix.lower() == ".md":
        text, found = file.read_text(encoding="utf-8", errors="replace"), True
    else:
        text, found = _text_from(LexborHTMLParser(file.read_bytes()), anchor)
    if not found:
        raise CitationError(f"{page}#{anchor}: the page has no element with this id or name")
    wanted = _words(quote)
    if not wanted:
        raise CitationError(f"{page}#{anchor}: the citation has no words to look for")
    if f" {' '.join(wanted)} " not in f" {' '.join(_words(text))} ":
        raise CitationError(f"{page}#{anchor}: these words do not stand there: {quote!r}")


def _words(text: str) -> list[str]:
    return _WORDS.findall(unicodedata.normalize("NFKC", text).casefold())


def _text_from(tree: LexborHTMLParser, anchor: str) -> tuple[str, bool]:
    """The text of the page from the anchored element on, and whether that element exists."""
    pieces: list[str] = []
    found = not anchor
    root = tree.root
    if root is None:
        return "", found
    stack: list[LexborNode] = [root]
    while stack:
        node = stack.pop()
        tag = node.tag
        if tag in {"script", "style", "template"}:
            continue
        if tag == "-text":
            if found:
                pieces.append(node.text_content or "")
            continue
        attributes = node.attributes
        if not found and anchor in (attributes.get("id"), attributes.get("name")):
            found = True
        if tag not in _INLINE:
            pieces.append(" ")
        stack.extend(reversed(list(node.iter(include_text=True))))
    return "".join(pieces), found
