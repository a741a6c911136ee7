"""Reads JSON5 by writing it again as JSON, token by token, in linear time.

A repairer of JSON would not do here: it guesses, and makes a string of ``0x10, b: .5``. What this cannot read is an
error.
"""

from __future__ import annotations

import json
import re

from py_agent.artifacts.fitting import Breathe

#: Bytes of a JSON5 text that are read at most: each token costs Python a few microseconds, a megabyte about a second.
JSON5_LIMIT = 1_000_000

#: Tokens between two breaths: a few milliseconds in a page.
_TOKENS_PER_BREATH = 500

_TOKEN = re.compile(
    r"""
      (?P<blank> (?: [\s\ufeff]+ | //[^\n\r\u2028\u2029]* | /\*(?:[^*]|\*(?!/))*\*/ )+ )
    | (?P<mark> [{}\[\]:,] )
    | (?P<string> "(?:[^"\\\n\r]|\\(?:\r\n|.))*" | '(?:[^'\\\n\r]|\\(?:\r\n|.))*' )
    | (?P<number> [+-]? (?: 0[xX][0-9a-fA-F]+ | Infinity\b | NaN\b
                          | (?: (?:0|[1-9]\d*)(?:\.\d*)? | \.\d+ ) (?:[eE][+-]?\d+)? ) (?![\w$.]) )
    | (?P<word> [^\W\d][\w$]* | \$[\w$]* )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_LINE_ENDS = frozenset({"\n", "\r", "\r\n", "\u2028", "\u2029"})
_CONSTANTS = {"true", "false", "null", "Infinity", "NaN"}


async def to_json(text: str, breathe: Breathe) -> str:
    """The JSON text of a JSON5 text. Whether it is well formed is for the reader of JSON to say.

    Raises:
        ValueError: A token that JSON5 does not have; the message says where.
    """
    out: list[str] = []
    word: str | None = None  # a bare word or a number: what it is, the mark behind it tells
    at = 0
    taken = 0
    while at < len(text):
        taken += 1
        if taken % _TOKENS_PER_BREATH == 0:
            await breathe()
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(
                f"line {text.count(chr(10), 0, at) + 1} has {text[at : at + 10]!r}, which JSON5 does not know"
            )
        at = match.end()
        kind, found = match.lastgroup, match[0]
        if kind == "blank":
            continue
        if word is not None:
            out.append(json.dumps(word) if found == ":" else _value(word))
            word = None
        if kind in ("word", "number"):
            word = found
        elif kind == "string":
            out.append(json.dumps(_unescaped(found[1:-1])))
        else:
            if found in "]}" and out and out[-1] == ",":
                out.pop()
            out.append(found)
    if word is not None:
        out.append(_value(word))
    return " ".join(out)


def _value(token: str) -> str:
    """A bare word or a number as JSON.

    Raises:
        ValueError: The word is no value.
    """
    if token in _CONSTANTS:
        return token
    sign = "-" if token[0] == "-" else ""
    digits = token.lstrip("+-")
    if digits in ("Infinity", "NaN"):
        return sign + digits if digits == "Infinity" else digits
    if digits[:2] in ("0x", "0X"):
        return sign + str(int(digits[2:], 16))
    if not digits[:1].isdigit() and digits[:1] != ".":
        raise ValueError(f"the bare word {token[:40]!r} is no value")
    whole, dot, rest = digits.partition(".")
    if dot and not rest[:1].isdigit():
        rest = "0" + rest
    return f"{sign}{whole or '0'}{dot}{rest}"


def _unescaped(body: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code:
            return chr(int(code, 16))
        return "" if match[3] in _LINE_ENDS else _ESCAPED.get(match[3], match[3])

    return _ESCAPE.sub(plain, body)
