"""A native Gemma call: ``call:NAME{key:value,...}`` with quoted strings, nested objects and lists.

The larger model sometimes writes ``call:NAME(key=value)`` instead, which is read as Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from py_agent.model.prompt import CallSpec
from py_agent.prompt.dialects.gemma4 import QUOTE
from py_agent.prompt.parsers.base import BadCall, plain_name
from py_agent.prompt.parsers.python import one_call

#: Nesting of a call's arguments at most; deeper text is no call of ours but something hostile or broken.
MAX_DEPTH = 16


_HEAD = re.compile(r"\s*(?:call:\s*)?([\w.:-]+)\s*(?=\{)")
_PYTHONIC = re.compile(r"\s*call:\s*([\w.:-]+)\s*(\(.*)\Z", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_SPACE = " \t\r\n"


def parse_call(body: str) -> CallSpec:
    """The call in ``body``, the text between the call markers.

    A doubled or namespaced name (``docs:search_docs:search_docs``) is read as its last part.

    Raises:
        BadCall: ``body`` is not one complete call.
    """
    pythonic = _PYTHONIC.match(body)
    if pythonic is not None:
        return one_call(f"{plain_name(pythonic[1])}{pythonic[2]}")
    head = _HEAD.match(body)
    if head is None:
        raise BadCall("a call looks like call:NAME{key:value}")
    reader = _Reader(body, head.end())
    arguments = reader.value(0)
    reader.skip()
    if reader.at != len(body):
        raise BadCall(f"there is text behind the closing brace: {body[reader.at : reader.at + 20]!r}")
    return CallSpec(name=plain_name(head[1]), arguments=arguments)


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _SPACE:
            self.at += 1

    def peek(self) -> str:
        self.skip()
        if self.at >= len(self.text):
            raise BadCall("the call ends before its closing brace")
        return self.text[self.at]

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise BadCall("the arguments are nested too deep")
        char = self.peek()
        if char == "{":
            return self.object(depth)
        if char == "[":
            self.at += 1
            return list(self.items("]", depth))
        string = self.string()
        return self.bare() if string is None else string

    def object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        result: dict[str, Any] = {}
        while self.peek() != "}":
            key = self.string()
            if key is None:
                colon = self.text.find(":", self.at)
                if colon < 0:
                    raise BadCall(f"an argument has no value: {self.text[self.at : self.at + 20]!r}")
                key = self.text[self.at : colon].strip()
                self.at = colon
            if not key or self.peek() != ":":
                raise BadCall("every argument is written key:value")
            self.at += 1
            result[key] = self.value(depth + 1)
            if self.peek() == ",":
                self.at += 1
            elif self.peek() != "}":
                raise BadCall("arguments are separated by commas")
        self.at += 1
        return result

    def items(self, end: str, depth: int) -> Iterator[Any]:
        while self.peek() != end:
            yield self.value(depth + 1)
            if self.peek() == ",":
                self.at += 1
            elif self.peek() != end:
                raise BadCall("list items are separated by commas")
        self.at += 1

    def string(self) -> str | None:
        """The quoted string here, or None if there is none. Nothing is escaped inside the native quotes."""
        self.skip()
        for quote in (QUOTE, '"', "'"):
            if self.text.startswith(quote, self.at):
                start = self.at + len(quote)
                end = self.text.find(quote, start)
                while len(quote) == 1 and end > 0 and self.text[end - 1] == "\\":
                    end = self.text.find(quote, end + 1)
                if end < 0:
                    raise BadCall("a string is not closed")
                self.at = end + len(quote)
                inner = self.text[start:end]
                return inner if quote == QUOTE else inner.replace("\\" + quote, quote).replace("\\n", "\n")
        return None

    def bare(self) -> Any:
        end = self.at
        while end < len(self.text) and self.text[end] not in ",]}":
            end += 1
        if end >= len(self.text):
            raise BadCall("the call ends before its closing brace")
        word = self.text[self.at : end].strip()
        self.at = end
        if word in _WORDS:
            return _WORDS[word]
        if _NUMBER.fullmatch(word):
            return float(word) if any(char in word for char in ".eE") else int(word)
        if not word:
            raise BadCall("an argument has no value")
        return word
