"""Takes a call's text apart while it streams in: brackets, separators, strings and words, whatever the form.

It knows no grammar. It knows where a string begins and ends, so that a brace, a quote or a control token inside one
is content; and it never decides on a character before it has seen enough of what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from py_agent.prompt.dialects.gemma4 import QUOTE

Kind = Literal["open", "close", "separator", "word", "quote", "string", "unquote", "marker"]
Token = tuple[Kind, str]

#: Nesting of a call's arguments at most; deeper text is no call of ours but something hostile or broken.
MAX_DEPTH = 16

_OPEN = "{[("
_CLOSE = "}])"
_SEPARATORS = ",:="
_CLOSING = {'"': '"', "'": "'", "\u201c": "\u201d"}
#: Letters that Python allows in front of a quote.
_PREFIXES = frozenset(("r", "b", "f", "u", "rb", "br", "fr", "rf"))
_WORD = re.compile(r"[^<\"'\u201c{}\[\](),:=]+")
_ENDS = {quote: re.compile(rf"\\|{re.escape(quote)}") for quote in ('"', "'", "\u201d", '"""', "'''")}


class Lexer:
    """Feed it text, then take tokens until it needs more.

    Args:
        markers: Control tokens to report where they stand outside of strings.

    Attributes:
        depth: Brackets that are open.
        quote: What will close the string that is open; empty outside of strings.
    """

    def __init__(self, markers: tuple[str, ...] = ()) -> None:
        self.depth = 0
        self.quote = ""
        self._markers = (QUOTE, *markers)
        self._text = ""
        self._at = 0
        # What stands since the last bracket or separator, without spaces, its first characters only: where it is empty
        # a value may begin, and only there does an ordinary quote open a string. An apostrophe in a word opens none.
        self._lead = ""

    def feed(self, text: str) -> None:
        """Takes the next piece of text."""
        self._text = self._text[self._at :] + text
        self._at = 0

    @property
    def rest(self) -> str:
        """What was fed and not given out as tokens."""
        return self._text[self._at :]

    def tokens(self, *, final: bool = False) -> Iterator[Token]:
        """The tokens that are certain; with ``final``, all: nothing more will come. Joined they are the text as fed,
        but for half a marker at the very end.
        """
        while self._at < len(self._text):
            token = self._in_string(final) if self.quote else self._outside(final)
            if token is None:
                return
            self._at += len(token[1])
            if token[1]:
                yield token

    def _outside(self, final: bool) -> Token | None:
        text, at = self._text, self._at
        char = text[at]
        if char == "<":
            return self._angle(final)
        if char in _OPEN:
            self.depth += 1
            self._lead = ""
            return "open", char
        if char in _CLOSE:
            self.depth = max(0, self.depth - 1)
            self._lead = char
            return "close", char
        if char in _SEPARATORS:
            self._lead = ""
            return "separator", char
        if char in _CLOSING:
            return self._quote(char, final)
        match = _WORD.match(text, at)
        word = match[0] if match is not None else char
        if len(self._lead) < 3:
            self._lead = (self._lead + "".join(word.split()))[:3]
        return "word", word

    def _angle(self, final: bool) -> Token | None:
        for marker in self._markers:
            if self._text.startswith(marker, self._at):
                if marker != QUOTE:
                    return "marker", marker
                self.quote = QUOTE
                return "quote", QUOTE
        rest = self._text[self._at : self._at + max(map(len, self._markers))]
        if any(marker.startswith(rest) for marker in self._markers):
            if not final:
                return None
            if len(rest) > 1 and len(self._markers) > 1:
                self._at = len(self._text)
                return "word", ""
        self._lead = "<"
        return "word", "<"

    def _quote(self, char: str, final: bool) -> Token | None:
        if self._lead and self._lead.lower() not in _PREFIXES:
            self._lead = char
            return "word", char
        ahead = self._text[self._at : self._at + 3]
        if char != "\u201c" and ahead == char * len(ahead) and len(ahead) < 3 and not final:
            return None
        self.quote = char * 3 if char != "\u201c" and ahead == char * 3 else _CLOSING[char]
        self._lead = char
        return "quote", char * len(self.quote)

    def _in_string(self, final: bool) -> Token | None:
        text, at, quote = self._text, self._at, self.quote
        if quote == QUOTE:
            end = text.find(quote, at)
            if end < 0 and not final:
                end = len(text) - cut_prefix(text, quote)
        else:
            end = self._plain_end(final)
        if text.startswith(quote, at) and end == at:
            self.quote = ""
            self._lead = quote[0]
            return "unquote", quote
        if end < 0:
            end = len(text)
        return ("string", text[at:end]) if end > at else None

    def _plain_end(self, final: bool) -> int:
        """Where the content of an ordinary string ends that is certain; escapes are never cut."""
        text, at, quote = self._text, self._at, self.quote
        while (match := _ENDS[quote].search(text, at)) is not None:
            if match[0] != "\\":
                return match.start()
            if match.end() == len(text):
                return len(text) if final else match.start()
            at = match.end() + 1
        return len(text) if final or len(quote) == 1 else max(at, len(text) - cut_prefix(text, quote))


def cut_prefix(text: str, marker: str) -> int:
    """How many characters at the end of ``text`` could be the beginning of ``marker``."""
    for size in range(min(len(marker) - 1, len(text)), 0, -1):
        if text.endswith(marker[:size]):
            return size
    return 0
