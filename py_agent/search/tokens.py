"""Text to terms: the one tokenizer of the index and of queries.

Documentation is full of names that ordinary tokenizers destroy, so a name is kept whole AND split:
``--show-toplevel`` gives ``showtoplevel``, ``show``, ``toplevel``; ``setTimeout`` and ``set_timeout`` meet in
``settimeout``; ``C++`` and ``C#`` stay apart from ``C``; ``1.2.3`` stays apart from ``1.12.3``. Scripts without spaces
(Chinese, Japanese, Korean) give overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

#: Name of these rules, written into every index; an index with another name must be built again.
TOKENIZER = "identifiers-1"
#: Terms longer than this are no words (hashes, base64, minified code): they would only bloat the vocabulary.
MAX_TERM_CHARS = 48

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u31f0-\u31ff々〆ヶー"
# Letters, digits and underscores, joined by the signs that hold names together; a trailing ++ or # is part of the name.
_WORD = re.compile(r"\w+(?:(?:[-.:/@'’]|::|->)\w+)*(?:\+\+|#(?!\w))?")
_PIECE = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:\+\+|#)?")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_CJK_RUN = re.compile(rf"[{_CJK}]+\Z")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+\Z")
_ACRONYMS = re.compile(r"[A-Z]{2,}s\Z")
_POSSESSIVE = re.compile(r"['’]s\b")
# Letters that Unicode does not decompose but that readers type without their stroke or with a dot.
_STROKES = str.maketrans({"đ": "d", "ð": "d", "ł": "l", "ø": "o", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})


class Word(NamedTuple):
    """One word of a text.

    Attributes:
        text: The word as written (after NFKC).
        whole: Its term as one piece, or None for a run of a script without spaces.
        parts: The terms of its pieces; a plain word has one part, equal to ``whole``.
    """

    text: str
    whole: str | None
    parts: tuple[str, ...]


def fold(text: str) -> str:
    """Case, width, ligatures and accents folded: what two spellings of one word have in common."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    # Only the combining marks of Latin, Greek and Cyrillic go: Japanese and Indic marks make other words.
    text = "".join(char for char in text if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", text).translate(_STROKES)


def stem(term: str) -> str:
    """The term without an English plural ending; anything else is left alone."""
    if len(term) < 4 or not term.isascii() or not term.isalpha() or not term.endswith("s"):
        return term
    if term.endswith(("ss", "us", "is")):
        return term
    if term.endswith("ies") and len(term) > 4:
        return term[:-3] + "y"
    if term.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return term[:-2]
    return term[:-1]


def words(text: str) -> list[Word]:
    """The words of ``text`` in order."""
    return [word for raw in _WORD.findall(unicodedata.normalize("NFKC", text)) for word in _split(raw)]


def terms(text: str) -> list[str]:
    """The terms under which ``text`` is indexed, repeats included, in no promised order."""
    found: list[str] = []
    for word in words(text):
        found.extend(word.parts)
        if word.whole is not None and word.parts != (word.whole,):
            found.append(word.whole)
    return found


@lru_cache(maxsize=8_192)
def _split(raw: str) -> tuple[Word, ...]:
    raw = _POSSESSIVE.sub("", raw)
    if _VERSION.match(raw):
        version = raw.lower().removeprefix("v")
        return (Word(raw, version, (version,)),)
    split: list[Word] = []
    parts: list[str] = []
    latin: list[str] = []
    for piece in _PIECE.findall(raw):
        if _CJK_RUN.match(piece):
            folded = fold(piece)
            pairs = [folded[i : i + 2] for i in range(len(folded) - 1)] or [folded]
            split.append(Word(piece, None, tuple(pairs)))
            continue
        if _ACRONYMS.match(piece):
            piece = piece[:-1]
        latin.append(piece)
        parts.extend(stem(fold(part)) for part in _CAMEL.split(piece))
    parts = [part for part in parts if len(part) <= MAX_TERM_CHARS]
    if parts:
        whole = parts[0] if len(parts) == 1 and len(latin) == 1 else fold("".join(latin))
        kept = whole if len(whole) <= MAX_TERM_CHARS else None
        split.insert(0, Word(raw, kept, tuple(parts)))
    return tuple(split)
