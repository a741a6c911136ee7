"""Patterns that a model may search with: what cannot take long, and nothing else.

The standard library's expressions can take exponential time. What is allowed here cannot: literals, ``|``, character
classes, and one quantifier that stands behind a single character or class. The text is checked against this small
grammar, put together again from its parts, and only then compiled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Characters of a pattern at most.
MAX_PATTERN_CHARS = 100

#: Repeats that ``{m,n}`` may ask for at most: a piece of a line is no longer.
MAX_REPEATS = 500

_CLASSES = {
    "d": r"\d",
    "w": r"\w",
    "s": r"[^\S\n]",
    "D": r"[^\d\n]",
    "W": r"[^\w\n]",
    "S": r"\S",
}
_IN_CLASS = {"d": r"\d", "w": r"\w", "s": r" \t\r\f\v"}
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d{1,3})(,(\d{0,3}))?\})\??")


class BadPattern(ValueError):
    """The pattern is not one that may be used. The message says what is wrong with it; ``at`` where, from 0."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Pattern:
    """A checked pattern.

    Attributes:
        expression: Never matches a line feed.
        repeats: Whether it has a quantifier: its time then grows with the square of the text, which has to be cut.
    """

    expression: re.Pattern[str]
    repeats: bool


def compile_pattern(text: str, *, ignore_case: bool = True) -> Pattern:
    """Checks and compiles a pattern.

    Raises:
        BadPattern: It is empty, too long, or has something that is not allowed.
    """
    if len(text) > MAX_PATTERN_CHARS:
        raise BadPattern(f"it has {len(text)} characters", MAX_PATTERN_CHARS)
    if "\n" in text:
        raise BadPattern("it goes over a line's end", text.index("\n"))
    parts: list[str] = []
    repeats = False
    for at, atom, length in _atoms(text):
        parts.append(atom)
        quantifier = _QUANTIFIER.match(text, at + length) if atom != "|" else None
        if quantifier is None:
            continue
        if repeats:
            raise BadPattern("it has a second quantifier", at + length)
        if quantifier[1] and max(int(quantifier[1]), int(quantifier[3] or 0)) > MAX_REPEATS:
            raise BadPattern(f"it repeats more than {MAX_REPEATS} times", at + length)
        if quantifier[3] and int(quantifier[3]) < int(quantifier[1]):
            raise BadPattern("its quantifier ends before it begins", at + length)
        parts.append(quantifier[0])
        repeats = True
    if any(not branch for branch in _branches(parts)):
        raise BadPattern("it is empty, or one of its alternatives is", 0)
    flags = re.IGNORECASE if ignore_case else re.NOFLAG
    return Pattern(re.compile("".join(parts), flags), repeats)


def _branches(parts: list[str]) -> list[list[str]]:
    branches: list[list[str]] = [[]]
    for part in parts:
        if part == "|":
            branches.append([])
        else:
            branches[-1].append(part)
    return branches


def _atoms(text: str) -> list[tuple[int, str, int]]:
    """Where each atom begins, what stands for it in an expression, and how many characters it takes."""
    atoms: list[tuple[int, str, int]] = []
    at = 0
    while at < len(text):
        atom, length = _atom(text, at)
        atoms.append((at, atom, length))
        at += length
        if atom != "|" and (quantifier := _QUANTIFIER.match(text, at)) is not None:
            at = quantifier.end()
    return atoms


def _atom(text: str, at: int) -> tuple[str, int]:
    char = text[at]
    if char in "|.":
        return char, 1
    if char == "[":
        return _class(text, at)
    if char == "\\":
        return _escape(text, at), 2
    if char in "()":
        raise BadPattern(f"it has a group; write \\{char} for the character", at)
    if char in "^$":
        raise BadPattern(f"it has an anchor; write \\{char} for the character", at)
    if char in "*+?":
        raise BadPattern(f"{char} has nothing to repeat; write \\{char} for the character", at)
    return re.escape(char), 1


def _escape(text: str, at: int) -> str:
    escaped = text[at + 1 : at + 2]
    if escaped in _CLASSES:
        return _CLASSES[escaped]
    if escaped == "t":
        return r"\t"
    if not escaped:
        raise BadPattern("it ends with a backslash; write \\\\ for the character", at)
    if escaped.isalnum():
        raise BadPattern(f"\\{escaped} is not allowed", at)
    return re.escape(escaped)


def _class(text: str, start: int) -> tuple[str, int]:
    """A class in brackets, from its characters: it never takes a line feed."""
    at = start + 1
    negated = text[at : at + 1] == "^"
    at += negated
    first = at
    parts: list[str] = []
    while at < len(text) and (text[at] != "]" or at == first):
        low, length = _class_item(text, at)
        at += length
        # A dash between two characters is a range; at an end it is a dash.
        if text[at : at + 1] == "-" and text[at + 1 : at + 2] not in ("", "]"):
            high, length = _class_item(text, at + 1)
            if len(low) != 1 or len(high) != 1 or low > high:
                raise BadPattern("a range in its class has no order", at)
            parts.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 1 + length
        else:
            parts.append(low if len(low) > 1 else re.escape(low))
    if at >= len(text):
        raise BadPattern("its class is not closed; write \\[ for the character", start)
    inside = "".join(parts)
    return (rf"[^{inside}\n]" if negated else f"[{inside}]"), at + 1 - start


def _class_item(text: str, at: int) -> tuple[str, int]:
    """One character of a class, or an expression of several characters for a class within it."""
    if text[at] != "\\":
        return text[at], 1
    escaped = text[at + 1 : at + 2]
    if escaped in _IN_CLASS:
        return _IN_CLASS[escaped], 2
    if escaped == "t":
        return "\t", 2
    if not escaped or escaped.isalnum():
        raise BadPattern(f"\\{escaped} is not allowed inside a class", at)
    return escaped, 2
