"""Text to terms: the one tokenizer of the index and of queries.

Documentation is full of names that ordinary tokenizers destroy, so a name is kept whole AND split:
``--show-toplevel`` gives ``showtoplevel``, ``show``, ``toplevel``; ``setTimeout`` and ``set_timeout`` meet in
``settimeout``; ``C++`` and ``C#`` stay apart from ``C``; ``1.2.3`` stays apart from ``1.12.3``. Scripts without spaces
(Chinese, Japanese, Korean) give overlapping pairs of characters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from py_agent.search.fold import Fold

#: Name of these rules, written into every index; an index with another name must be built again.
TOKENIZER = "identifiers-2"
#: Terms longer than this are no words (hashes, base64, minified code): they would only bloat the vocabulary.
MAX_TERM_CHARS = 48
#: Raw words whose splits a tokenizer remembers: a page's vocabulary many times over.
_REMEMBERED = 16_384

# Behind ``Fold.plain`` every character beyond ASCII is one of a word, so these need no Unicode classes: they are the
# same in Python and in JavaScript.
_CJK = "\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_OTHER = (
    "\x80-\u3004\u3007-\u303f\u3100-\u31ef\u3200-\u33ff\u4dc0-\u4dff\ua000-\uabff\ud7b0-\uf8ff\ufb00-\U0001ffff"
    "\U00040000-\U0010ffff"
)
# Letters, digits, underscores and all beyond ASCII, by what is left out: a set of 65,000 signs takes milliseconds to
# compile, at every start of the page.
NAME_SIGN = r"[^\x00-/:-@\[-^`{-\x7f]"
_W = NAME_SIGN
# Letters, digits and underscores, joined by the signs that hold names together; a trailing ++ or # is part of the name.
_WORD = re.compile(rf"{_W}+(?:(?:[-.:/@']|::|->){_W}+)*(?:\+\+|#(?!{_W}))?")
_PIECE = re.compile(rf"[{_CJK}]+|[0-9A-Za-z{_OTHER}]+(?:\+\+|#)?")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_CJK_RUN = re.compile(rf"[{_CJK}]+\Z")
_VERSION = re.compile(r"v?[0-9]+(?:\.[0-9]+)+\Z")
_ACRONYMS = re.compile(r"[A-Z]{2,}s\Z")
# Letters only, none of them beyond the basic plane (where JavaScript counts differently) or of a script without spaces.
_LETTERS = re.compile(
    "[a-z\x80-\u3004\u3007-\u303f\u3100-\u31ef\u3200-\u33ff\u4dc0-\u4dff\ua000-\uabff\ud7b0-\ud7ff\ufb00-\uffff]+"
)
_POSSESSIVE = re.compile(r"'s(?!{_W})".replace("{_W}", _W))


class Word(NamedTuple):
    """One word of a text.

    Attributes:
        text: The word as written, without accents.
        whole: Its term as one piece, or None for a run of a script without spaces.
        parts: The terms of its pieces; a plain word has one part, equal to ``whole``.
    """

    text: str
    whole: str | None
    parts: tuple[str, ...]


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


def is_letters(term: str) -> bool:
    """Whether a folded term is a word of letters: what people mistype, or begin to type."""
    return _LETTERS.fullmatch(term) is not None


class Tokenizer:
    """Splits text by one fold table."""

    def __init__(self, table: Fold) -> None:
        self._table = table
        self._split = lru_cache(maxsize=_REMEMBERED)(self._split_raw)

    def words(self, text: str) -> list[Word]:
        """The words of ``text`` in order."""
        return [word for raw in _WORD.findall(self._table.plain(text)) for word in self._split(raw)]

    def terms(self, text: str) -> list[str]:
        """The terms under which ``text`` is indexed, repeats included, in no promised order."""
        found: list[str] = []
        for raw in _WORD.findall(self._table.plain(text)):
            for word in self._split(raw):
                found.extend(word.parts)
                if word.whole is not None and word.parts != (word.whole,):
                    found.append(word.whole)
        return found

    def plain(self, text: str) -> str:
        """``text`` without accents and what belongs to no word, its case kept."""
        return self._table.plain(text)

    def fold(self, text: str) -> str:
        """Case, width, ligatures and accents folded: what two spellings of one word have in common."""
        return self._table.fold(text)

    def _split_raw(self, raw: str) -> tuple[Word, ...]:
        raw = _POSSESSIVE.sub("", raw)
        lower = self._table.lower
        if _VERSION.match(raw):
            version = raw.lower().removeprefix("v")
            return (Word(raw, version, (version,)),)
        split: list[Word] = []
        parts: list[str] = []
        latin: list[str] = []
        for piece in _PIECE.findall(raw):
            if _CJK_RUN.match(piece):
                folded = lower(piece)
                pairs = [folded[i : i + 2] for i in range(len(folded) - 1)] or [folded]
                split.append(Word(piece, None, tuple(pairs)))
                continue
            if _ACRONYMS.match(piece):
                piece = piece[:-1]
            latin.append(piece)
            parts.extend(stem(lower(part)) for part in _CAMEL.split(piece))
        parts = [part for part in parts if len(part) <= MAX_TERM_CHARS]
        if parts:
            whole = parts[0] if len(parts) == 1 and len(latin) == 1 else lower("".join(latin))
            kept = whole if len(whole) <= MAX_TERM_CHARS else None
            split.insert(0, Word(raw, kept, tuple(parts)))
        return tuple(split)


#: The tokenizer of this Python's own Unicode: for text that is not compared with an index.
plain_tokenizer = Tokenizer(Fold.of_unicode())
terms = plain_tokenizer.terms
words = plain_tokenizer.words
fold = plain_tokenizer.fold
