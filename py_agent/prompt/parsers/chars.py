"""Characters that arrive in pieces: UTF-8 bytes, the two halves of a UTF-16 pair, and backslash escapes."""

from __future__ import annotations

import codecs
import re

#: What stands for a character that is broken for good.
LOST = "\ufffd"

_HIGH = re.compile("[\ud800-\udbff]")
_HALF = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")


def join_halves(text: str) -> str:
    """``text`` with each pair of UTF-16 halves as one character, and each half without a partner as ``LOST``."""
    return _HALF.sub(_joined, text)


def _joined(match: re.Match[str]) -> str:
    if match[1] is None:
        return LOST
    return chr(0x10000 + ((ord(match[1]) - 0xD800) << 10) + (ord(match[2]) - 0xDC00))


class HalfJoiner:
    """Joins UTF-16 halves over chunks, for engines that count in UTF-16."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, chunk: str) -> str:
        """The next characters; a first half at the end waits for its partner."""
        text = self._held + chunk
        self._held = ""
        if text and _HIGH.match(text[-1]):
            text, self._held = text[:-1], text[-1]
        return text if text.isascii() else join_halves(text)


class ByteDecoder:
    """Decodes UTF-8 that arrives cut anywhere, for engines that deliver bytes."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, data: bytes) -> str:
        """The characters that ``data`` completes. A character that is cut waits; one that is broken is ``LOST``."""
        return self._decoder.decode(data)


_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "", **{char: char for char in "\\/\"'`“”"}}


def unescape(raw: str) -> str:
    """The content of a quoted string as JSON and Python read it. An escape that means nothing stays as it is written:
    ``C:\\dir`` is a path that somebody forgot to escape, and not a path without its backslash.
    """
    text = unescape_piece(raw)
    return text if text.isascii() else join_halves(text)


def unescape_piece(raw: str) -> str:
    """The same for a piece of a string: an emoji that is written as two escapes comes out as two halves."""
    return _ESCAPE.sub(_unescaped, raw) if "\\" in raw else raw


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _SIMPLE.get(code, match[0])
