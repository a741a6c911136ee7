"""The text inside one element: on one line, with its lines, and what language code is in."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from py_agent.site.content import Chrome, is_permalink, names_of

INLINE = names_of("""
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span
    strike strong sub sup time tt u var wbr img -text
""")
#: A raised text that is an exponent: a number, a letter, or a short sum; not an ordinal's ending, nor a trade mark.
_EXPONENT = re.compile(r"(?!(?:st|nd|rd|th|tm|sm)$)[-+−]?[A-Za-z0-9]{1,4}(?:[-+−*/][A-Za-z0-9]{1,4})?", re.IGNORECASE)
#: What an exponent stands on: a digit, a bracket after one, a variable of one letter, a unit of length.
_BASE = re.compile(r"(?:\d\)?|[\w.]\)|(?<![^\W_])[A-Za-z]|(?<![A-Za-z])[kcdmnµ]m|(?<![A-Za-z])ft)$")
#: Elements nested deeper than this are read as plain text: no real page goes there, and Python's stack is finite.
MAX_DEPTH = 200
_LANGUAGE = re.compile(
    r"(?:(?:language|lang|highlight(?:-source)?|sourceCode)-|\bsourceCode\s+|\bbrush:\s*)([A-Za-z0-9+#_-]+)"
)
_NO_LANGUAGE = frozenset(("default", "none", "text", "plaintext", "plain", "nohighlight", "source", "txt", "mode"))
#: The longest name of a language that a fence carries; the longest known ones have about 30 characters.
MAX_LANGUAGE_CHARS = 40
#: How far above ``<pre>`` a generator may name the language: frame, and the frame's own wrappers.
LANGUAGE_LEVELS = 3


def plain(node: LexborNode, chrome: Chrome, depth: int = 0) -> str:
    """The text of an element on one line, without permalinks and hidden parts."""
    return " ".join("".join(_pieces(node, chrome, depth)).split())


def _pieces(node: LexborNode, chrome: Chrome, depth: int) -> list[str]:
    found: list[str] = []
    child = node.first_child
    while child is not None:
        tag = child.tag or ""
        if tag == "-text":
            found.append(child.text_content or "")
        elif tag == "math":
            found.append(formula(child))
        elif tag and not tag.startswith(("-", "!")):
            attributes = child.attributes
            if not chrome.skips(child, tag, attributes):
                if tag == "sup" and depth <= MAX_DEPTH:
                    found.append(superscript(child, "".join(found), chrome, depth))
                    child = child.next
                    continue
                if tag == "span" and stands_apart(child):
                    found.append(" ")
                if depth > MAX_DEPTH:
                    found.append(child.text(separator=" "))
                elif not (tag == "a" and is_permalink(child, attributes)):
                    found.extend(_pieces(child, chrome, depth + 1))
                if tag not in INLINE:
                    found.append(" ")
        child = child.next
    return found


def superscript(node: LexborNode, before: str, chrome: Chrome, depth: int = 0) -> str:
    """The text of a ``<sup>`` after the text ``before``: 2 with a raised 32 is ``2^32``, not 232, and a word with the
    number of a footnote is ``word[1]``, not another word."""
    text = plain(node, chrome, depth + 1)
    note = node.css_first("a[href]") is not None
    if not note and _EXPONENT.fullmatch(text) and _BASE.search(before):
        return f"^{text}" if text.lstrip("-+−").isalnum() else f"^({text})"
    return f"[{text}]" if text.isdecimal() and before[-1:].strip() else text


def stands_apart(node: LexborNode) -> bool:
    """Whether a ``<span>`` follows another one without a blank, and only styles keep their words apart."""
    before = node.prev
    if before is None or before.tag != "span":
        return False
    return all(" " in one.text().strip() for one in (before, node))


def formula(node: LexborNode) -> str:
    """A formula in MathML: its TeX source where it carries one, else its symbols."""
    source = node.css_first('annotation[encoding="application/x-tex"]')
    return f" {' '.join((source or node).text().split())} "


def raw(node: LexborNode, chrome: Chrome, depth: int = 0) -> str:
    """The text of an element with its lines."""
    found: list[str] = []
    child = node.first_child
    while child is not None:
        tag = child.tag or ""
        if tag == "-text":
            found.append(child.text_content or "")
        elif tag == "br":
            found.append("\n")
        elif tag and not tag.startswith(("-", "!")) and not chrome.skips(child, tag, child.attributes):
            inner = child.text() if depth > MAX_DEPTH else raw(child, chrome, depth + 1)
            if tag in ("div", "li", "tr", "p") and found and not "".join(found[-1:]).endswith("\n"):
                found.append("\n")  # one element a line, as some highlighters write it
            found.append(inner)
        child = child.next
    return "".join(found)


def code_lines(text: str) -> list[str]:
    """The lines of code without empty ones at its ends and blanks at theirs."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def language(node: LexborNode) -> str:
    """The language that a ``<pre>`` is in, as its classes or those around it say; empty if they do not."""
    around: list[LexborNode | None] = [node.css_first("code"), node]
    above = node.parent
    for _ in range(LANGUAGE_LEVELS):
        around.append(above)
        above = above.parent if above is not None else None
    for element in around:
        attributes = element.attributes if element is not None else {}
        named = attributes.get("data-lang") or attributes.get("data-language") or ""
        match = _LANGUAGE.search(attributes.get("class") or "")
        if name := (named or (match[1] if match else "")).lower():
            return "" if name in _NO_LANGUAGE or len(name) > MAX_LANGUAGE_CHARS else name
    return ""


def bullet(node: LexborNode) -> str:
    """How a list item begins: a dash, or its number."""
    parent = node.parent
    if parent is None or parent.tag != "ol":
        return "- "
    start = parent.attributes.get("start") or ""
    number, before = int(start) if start.isdecimal() else 1, node.prev
    while before is not None:
        number += before.tag == "li"
        before = before.prev
    return f"{number}. "
