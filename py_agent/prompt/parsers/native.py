"""The form that Gemma was trained on: ``call:NAME{key:value,...}`` with quoted strings, nested objects and lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from py_agent.prompt.dialects.gemma4 import QUOTE
from py_agent.prompt.parsers.bad import BadCall
from py_agent.prompt.parsers.chars import unescape
from py_agent.prompt.parsers.lexer import MAX_DEPTH

#: A number of more digits is no number that a tool asks for, and Python refuses to read very long ones.
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_SPACE = " \t\r\n"
_KEY = re.compile(r"[^:={}\[\],<\"']+")
#: Opening and closing marks of a string, longest first. Inside the native ones nothing is escaped.
_QUOTES = ((QUOTE, QUOTE), ('"""', '"""'), ("'''", "'''"), ('"', '"'), ("'", "'"), ("\u201c", "\u201d"))


def parse_arguments(text: str, *, closed: bool) -> dict[str, Any]:
    """The arguments in ``text``, which begins with their brace.

    Args:
        text: From the opening brace to the end of the call.
        closed: Something behind the call proves that the model was done with it; then brackets that are still open
            count as closed. A string that is open never does.

    Raises:
        BadCall: It is not one complete object.
    """
    reader = _Reader(text, closed=closed)
    arguments = reader.value(0)
    reader.skip()
    if reader.at != len(text) or not isinstance(arguments, dict):
        raise BadCall(f"there is text behind the closing brace: {text[reader.at : reader.at + 20]!r}")
    return arguments


def scalar(word: str) -> Any:
    """What a word without quotes stands for: a number, a boolean, null, or the word itself."""
    if word in _WORDS:
        return _WORDS[word]
    if _NUMBER.fullmatch(word):
        return float(word) if any(char in word for char in ".eE") else int(word)
    return word


class _Reader:
    def __init__(self, text: str, *, closed: bool) -> None:
        self.text = text
        self.at = 0
        self.closed = closed

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _SPACE:
            self.at += 1

    def peek(self) -> str:
        """The next character that is no space; at the end of a closed text, the bracket that is missing: any."""
        self.skip()
        if self.at < len(self.text):
            return self.text[self.at]
        if self.closed:
            return ""
        raise BadCall("the call ends before its closing brace")

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise BadCall("the arguments are nested too deep")
        char = self.peek()
        if char == "{":
            result: dict[str, Any] = {}
            self.members("}", lambda: self.member(result, depth))
            return result
        if char == "[":
            items: list[Any] = []
            self.members("]", lambda: items.append(self.value(depth + 1)))
            return items
        string = self.string()
        return self.bare() if string is None else string

    def members(self, end: str, member: Callable[[], None]) -> None:
        self.at += 1
        while (char := self.peek()) != end and char:
            member()
            if self.peek() == ",":
                self.at += 1
            elif self.peek() not in (end, ""):
                raise BadCall("arguments and list items are separated by commas")
        self.at = min(self.at + 1, len(self.text))

    def member(self, result: dict[str, Any], depth: int) -> None:
        key = self.string()
        if key is None:
            match = _KEY.match(self.text, self.at)
            key = match[0].strip() if match is not None else ""
            self.at = match.end() if match is not None else self.at
        if not key or self.peek() not in (":", "="):
            raise BadCall("every argument is written key:value")
        self.at += 1
        result[key] = self.value(depth + 1)

    def string(self) -> str | None:
        """The quoted string here, or None if there is none."""
        self.skip()
        for opening, closing in _QUOTES:
            if not self.text.startswith(opening, self.at):
                continue
            start = self.at + len(opening)
            end = self.text.find(closing, start) if opening == QUOTE else _end(self.text, closing, start)
            if end < 0:
                raise BadCall("a string is not closed")
            self.at = end + len(closing)
            inner = self.text[start:end]
            return inner if opening == QUOTE else unescape(inner)
        return None

    def bare(self) -> Any:
        end = self.at
        while end < len(self.text) and self.text[end] not in ",]}":
            end += 1
        if end >= len(self.text) and not self.closed:
            raise BadCall("the call ends before its closing brace")
        word = self.text[self.at : end].strip()
        self.at = end
        if not word:
            raise BadCall("an argument has no value")
        if QUOTE in word:
            raise BadCall("a string begins in the middle of a value")
        return scalar(word)


def _end(text: str, closing: str, at: int) -> int:
    """Where the string that goes on at ``at`` is closed, or -1."""
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(closing, at):
            return at
        else:
            at += 1
    return -1
