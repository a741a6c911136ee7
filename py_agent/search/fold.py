"""Folding text to what two spellings of a word have in common, by one table for every reader of an index.

The Unicode versions of CPython, Pyodide and browsers differ, and an index must be read as it was written. So the table
is made once, by the Unicode of the Python that builds an index (``Fold.of_unicode``), and shipped in it (``to_json``);
queries fold by that table alone (``Fold.of_table``), in Python as in JavaScript (``web/search/fold.js``).

Folding has two steps, because names are split at their capitals in between. ``plain`` replaces each character by its
compatibility form without accents, and by a blank what belongs to no word; ``lower`` folds case. What stands in no
table is a character of a word that folds to itself.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any

#: Blocks of 256 characters that every table holds, whatever the site is written in: readers type accents, full-width
#: forms and curly quotes everywhere. Latin, Greek, Cyrillic, Hebrew, Arabic, punctuation, letter-like, kana, width.
COMMON_BLOCKS = frozenset([*range(0x07), 0x1E, 0x1F, 0x20, 0x21, 0x30, 0xFB, 0xFE, 0xFF])

# Letters that Unicode does not decompose but that readers type without their stroke or with a dot, and signs that
# stand for those of ASCII inside names.
_ALIKE = {"đ": "d", "ð": "d", "ł": "l", "ø": "o", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "Đ": "D", "Ð": "D"}
_ALIKE |= {"Ł": "L", "Ø": "O", "Æ": "AE", "Œ": "OE", "Þ": "TH", "’": "'", "‐": "-", "‑": "-", "−": "-"}
# Marks that go: those of Latin, Greek and Cyrillic, Hebrew points, Arabic vowels and the tatweel, variation selectors.
# Japanese and Indic marks stay: they make other words.
_MARKS: tuple[tuple[int, int], ...] = (
    (0x300, 0x36F),
    (0x591, 0x5BD),
    (0x5BF, 0x5BF),
    (0x5C1, 0x5C2),
    (0x5C4, 0x5C5),
    (0x5C7, 0x5C7),
)
_MARKS += ((0x610, 0x61A), (0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6DC), (0xFE00, 0xFE0F))
# Kana and a voicing mark behind it make one character; everything else that composes has lost its marks.
_VOICED = re.compile("[\u3046-\u309d\u30a6-\u30fd][\u3099\u309a]")
# Korean letters that make a syllable: arithmetic that has not changed since Unicode 2.
_JAMO = re.compile("[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?")
_COMPOSES = re.compile("[\u1100-\u1112\u3099\u309a]")


class Fold:
    """A table and what it does to text."""

    def __init__(self, chars: dict[int, str], lower: dict[int, str], pairs: dict[str, str]) -> None:
        self._chars = chars
        self._lower = lower
        self._pairs = pairs

    @classmethod
    def of_unicode(cls) -> Fold:
        """The table of this Python's own Unicode, made as text is met."""
        pairs = {
            base + mark: whole
            for base in map(chr, range(0x3041, 0x3100))
            for mark in "\u3099\u309a"
            if len(whole := unicodedata.normalize("NFC", base + mark)) == 1
        }
        return cls(_Made(_plain_char), _Made(_lower_char), pairs)

    @classmethod
    def of_table(cls, data: dict[str, Any]) -> Fold:
        """The table that ``to_json`` made.

        Raises:
            KeyError, TypeError, ValueError: It is something else.
        """
        starts, ends = [int(first) for first, _ in data["blanks"]], [int(last) for _, last in data["blanks"]]

        def blank(code: int) -> str:
            at = bisect_right(starts, code) - 1
            return " " if at >= 0 and code <= ends[at] else chr(code)

        def unchanged(code: int) -> str:
            return chr(code).lower() if code < 0x80 else chr(code)

        return cls(
            _Made(blank, {ord(char): str(to) for to, found in data["chars"].items() for char in found}),
            _Made(unchanged, {ord(char): str(to) for to, found in data["lower"].items() for char in found}),
            {str(pair): str(whole) for pair, whole in data["pairs"].items()},
        )

    def plain(self, text: str) -> str:
        """``text`` in compatibility form without accents, with blanks for what belongs to no word; case is kept."""
        if text.isascii():
            return text
        text = text.translate(self._chars)
        if _COMPOSES.search(text):
            text = _VOICED.sub(lambda match: self._pairs.get(match[0], match[0]), text)
            text = _JAMO.sub(lambda match: _syllable(*match[0]), text)
        return text

    def lower(self, text: str) -> str:
        """Plain text with its case folded."""
        return text.lower() if text.isascii() else text.translate(self._lower)

    def fold(self, text: str) -> str:
        """Both steps."""
        return self.lower(self.plain(text))


def to_json(blocks: Iterable[int]) -> dict[str, Any]:
    """This Python's table for the common blocks and for ``blocks``, as it stands in an index.

    Args:
        blocks: Blocks of 256 characters that the site's text has characters of.

    Returns:
        ``chars`` and ``lower`` (what characters become: those characters, in one string), ``pairs`` (of kana and
        mark: the character), and ``blanks`` (ranges of characters of no word, ends included).
    """
    live = Fold.of_unicode()
    chars: dict[str, str] = {}
    lower: dict[str, str] = {}
    blanks: list[list[int]] = []
    for block in sorted(COMMON_BLOCKS.union(blocks)):
        for code in range(max(block << 8, 0x80), (block + 1) << 8):
            char = chr(code)
            if "\ud800" <= char <= "\udfff":
                continue
            plain = live.plain(char)
            if plain == " ":
                if blanks and blanks[-1][1] == code - 1:
                    blanks[-1][1] = code
                else:
                    blanks.append([code, code])
            elif plain != char:
                chars[plain] = chars.get(plain, "") + char
            if plain == char and (folded := live.lower(char)) != char:
                lower[folded] = lower.get(folded, "") + char
    return {"chars": chars, "lower": lower, "pairs": live._pairs, "blanks": blanks}


class _Made(dict[int, str]):
    """What ``str.translate`` looks up; what is not in it yet is made."""

    def __init__(self, make: Callable[[int], str], known: dict[int, str] | None = None) -> None:
        super().__init__(known or {})
        self._make = make

    def __missing__(self, code: int) -> str:
        self[code] = made = self._make(code)
        return made


def _plain_char(code: int) -> str:
    char = chr(code)
    if char.isascii():
        return char
    if char in _ALIKE:
        return _ALIKE[char]
    if any(first <= code <= last for first, last in _MARKS) or unicodedata.category(char) == "Cf":
        return ""
    if 0xAC00 <= code <= 0xD7A3 or 0xD800 <= code <= 0xDFFF:
        return char
    whole = unicodedata.normalize("NFKD", char)
    kept = "".join(one for one in whole if not any(first <= ord(one) <= last for first, last in _MARKS))
    kept = unicodedata.normalize("NFC", kept) or char
    kept = "".join(_ALIKE.get(one, one) for one in kept)
    return "".join(one if one.isascii() or _is_of_words(one) else " " for one in kept)


def _is_of_words(char: str) -> bool:
    # What this Unicode does not know yet is more likely a letter of a new script than a sign.
    return unicodedata.category(char)[0] in "LMN" or unicodedata.category(char) in ("Cn", "Co")


def _lower_char(code: int) -> str:
    return chr(code).casefold()


def _syllable(first: str, vowel: str, last: str = "\u11a7") -> str:
    return chr(0xAC00 + ((ord(first) - 0x1100) * 21 + ord(vowel) - 0x1161) * 28 + ord(last) - 0x11A7)
