"""Follows the ``answer`` of a ``provide_answer`` call while the call is still streaming in, whatever its form."""

from __future__ import annotations

import re

from py_agent.prompt.dialects.gemma4 import QUOTE
from py_agent.prompt.parsers.chars import HalfJoiner, unescape_piece
from py_agent.prompt.parsers.json_call import ARGUMENT_KEYS, NAME_KEYS
from py_agent.prompt.parsers.lexer import Lexer

_TOOL = "provide_answer"
_KEY = "answer"
#: Characters of a key or a name that are kept: longer ones are none of ours.
_LABEL = 80
#: An escape that is not complete, at the end of a piece: ``\\u00`` may still become a letter.
_HALF_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?)\Z")
_LAST = re.compile(r"(\w+)\W*$")


class DraftReader:
    """Give it a call's text piece by piece; it gives back what is new of the answer. Nothing but the string's content
    ever comes out: no quote, no bracket, no half of a marker.
    """

    def __init__(self) -> None:
        self._lexer = Lexer()
        self._halves = HalfJoiner()
        # For each open bracket: the word or key in front of it, and the tool that the object names so far.
        self._brackets: list[tuple[str, str]] = []
        self._label = ""
        self._key = ""
        self._string = ""
        self._reading = False
        self._escape = ""
        self._over = False

    def feed(self, news: str) -> str:
        """What ``news``, the next piece of the call's text, adds to the answer."""
        if self._over:
            return ""
        self._lexer.feed(news)
        out: list[str] = []
        for kind, text in self._lexer.tokens():
            if kind == "string":
                if self._reading:
                    out.append(self._content(text))
                else:
                    self._string = (self._string + text)[:_LABEL]
            elif kind == "quote":
                self._string = ""
                self._reading = self._is_answer()
            elif kind == "unquote":
                if self._reading:
                    self._over = True
                    break
                self._named()
            elif kind == "open":
                self._brackets.append((_last(self._label) or self._key, ""))
                self._key = self._label = ""
            elif kind == "close":
                if self._brackets:
                    self._brackets.pop()
                self._key = self._label = ""
            elif kind == "separator":
                self._key = _last(self._label) if text in ":=" else ""
                self._label = ""
            else:
                self._label = (self._label + text)[-_LABEL:]
        return "".join(out)

    def _named(self) -> None:
        """A string is over that is no answer: it may be a key, or the name of the tool."""
        if self._brackets and self._key in NAME_KEYS:
            self._brackets[-1] = self._brackets[-1][0], _last(self._string)
        self._label = self._string

    def _is_answer(self) -> bool:
        if self._key != _KEY or not self._brackets:
            return False
        before = self._brackets[-1][0]
        outer = self._brackets[-2][1] if len(self._brackets) > 1 else ""
        return before == _TOOL or (before in ARGUMENT_KEYS and outer == _TOOL)

    def _content(self, raw: str) -> str:
        if self._lexer.quote == QUOTE:
            return self._halves.feed(raw)
        raw = self._escape + raw
        half = _HALF_ESCAPE.search(raw)
        self._escape = half[1] if half is not None else ""
        return self._halves.feed(unescape_piece(raw[: len(raw) - len(self._escape)]))


def _last(text: str) -> str:
    match = _LAST.search(text)
    return match[1] if match is not None else ""
