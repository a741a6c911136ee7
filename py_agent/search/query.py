"""A question read as search words."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from py_agent.search.stopwords import STOP_WORDS
from py_agent.search.tokens import NAME_SIGN, Tokenizer, Word, plain_tokenizer

_BLANKS = re.compile("[ \t\n\r\f\v\xa0\u2000-\u200a\u202f\u3000]+")
# A name by its shape: an inner capital, an underscore, a digit, or all capitals. Of plain text, so ASCII will do.
_SHAPE = re.compile(rf"[a-z0-9][A-Z]|_|[A-Z]{{2}}|[0-9]|[+#]|::|{NAME_SIGN}\.{NAME_SIGN}")
_EDGE = re.compile(NAME_SIGN)


class QueryWord(NamedTuple):
    """A content word of a query.

    Attributes:
        text: As the reader wrote it.
        whole: Its term as one piece, None for scripts without spaces.
        parts: The terms of its pieces.
        compound: It has more than one piece.
        name: It is written like a name: an identifier, or a capital that does not start a sentence.
    """

    text: str
    whole: str | None
    parts: tuple[str, ...]
    compound: bool
    name: bool


def read_query(
    query: str, tokenizer: Tokenizer = plain_tokenizer, stop_words: Collection[str] = STOP_WORDS
) -> list[QueryWord]:
    """The content words of ``query``, each once. Stop words go, unless nothing else is there."""
    found: list[QueryWord] = []
    starts = True
    for chunk in _BLANKS.split(query):
        words = tokenizer.words(chunk)
        for word in words:
            text = _as_written(chunk, word.text, tokenizer) if len(words) == 1 else word.text
            compound = word.whole is not None and word.parts != (word.whole,)
            capital = not starts and tokenizer.fold(word.text[:1]) != tokenizer.plain(word.text[:1])
            name = capital or _SHAPE.search(word.text) is not None
            found.append(QueryWord(text, word.whole, word.parts, compound, name))
            starts = False
        if chunk:
            starts = chunk[-1] in ".?!:;" or (starts and not words)
    content = [word for word in found if not _is_stop_word(word.text, stop_words)] or found
    kept: dict[tuple[str, ...], QueryWord] = {}
    for one in content:
        kept.setdefault(one.parts, one)
    return list(kept.values())


def is_stop_word(word: Word) -> bool:
    """Whether the word carries no content. Single letters do only inside names, not alone and in lower case."""
    return _is_stop_word(word.text, STOP_WORDS)


def _is_stop_word(text: str, stop_words: Collection[str]) -> bool:
    return text.lower().split("'")[0] in stop_words and not (len(text) > 1 and text == text.upper())


def _as_written(chunk: str, plain: str, tokenizer: Tokenizer) -> str:
    """The part of ``chunk`` that became the word ``plain``, with its accents."""
    first = _EDGE.search(chunk)
    end = len(chunk)
    start = first.start() if first else 0
    while end > start:
        if tokenizer.plain(chunk[start:end]) == plain:
            return chunk[start:end]
        end -= 1
    return plain
