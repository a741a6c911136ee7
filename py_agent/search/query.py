"""A question read as search words."""

from __future__ import annotations

import re
from typing import NamedTuple

from py_agent.search.stopwords import STOP_WORDS
from py_agent.search.tokens import Tokenizer, Word, plain_tokenizer

# A name by its shape: an inner capital, an underscore, a digit, or all capitals.
_SHAPE = re.compile(r"[a-z0-9][A-Z]|_|[A-Z]{2}|\d|[+#]|::|\w\.\w")


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


def read_query(query: str, tokenizer: Tokenizer = plain_tokenizer) -> list[QueryWord]:
    """The content words of ``query``, each once. Stop words go, unless nothing else is there."""
    found = tokenizer.words(query)
    content = [word for word in found if not is_stop_word(word)] or found
    seen: set[tuple[str, ...]] = set()
    read: list[QueryWord] = []
    for word in content:
        if word.parts in seen:
            continue
        seen.add(word.parts)
        compound = word.whole is not None and word.parts != (word.whole,)
        read.append(QueryWord(word.text, word.whole, word.parts, compound, _is_name(word, query)))
    return read


def is_stop_word(word: Word) -> bool:
    """Whether the word carries no content. Single letters do only inside names, not alone and in lower case."""
    return word.text.casefold().split("'")[0] in STOP_WORDS and not (len(word.text) > 1 and word.text.isupper())


def _is_name(word: Word, query: str) -> bool:
    if _SHAPE.search(word.text):
        return True
    if not word.text[:1].isupper():
        return False
    before = query[: query.find(word.text)].rstrip()
    return bool(before) and before[-1] not in ".?!:;\n"
