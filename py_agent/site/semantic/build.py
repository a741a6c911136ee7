"""A site's vectors: from its passages to what the index holds."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from py_agent.search.stopwords import STOP_WORDS
from py_agent.search.tokens import Tokenizer, is_letters
from py_agent.site.chunk import Piece
from py_agent.site.read import Page
from py_agent.site.semantic.cache import Encodes
from py_agent.site.semantic.cluster import clusters, probes
from py_agent.site.semantic.encoder import DIMENSIONS
from py_agent.site.semantic.fit import fit, quantised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Characters of a passage that the encoder is given behind its headings: more than its tokens hold.
TEXT_CHARS = 1_200
#: Headings and sentences that the table is fitted to: twice as many change nothing on the six corpora.
FITTED_TEXTS = 4_000
#: Characters of a sentence that says something and is one.
SENTENCE_CHARS = (20, 200)
#: Words of the site that have a row, the commonest first, and words of English that readers may use and pages do not.
SITE_WORDS = 8_000
ENGLISH_WORDS = 8_000
#: Passages that hold a word of the site that has a row: one alone teaches nothing of it.
MIN_WORD_PASSAGES = 2
#: Which sentences are taken: the same site gives the same index.
SEED = 1

_SENTENCE = re.compile(r"(?<=[.!?:])\s+")


@dataclass
class Semantic:
    """What the index holds of a site's vectors; ``search/semantic.py`` says how it is read.

    Attributes:
        bits: Dimensions.
        words: Sorted.
        rows: The row of each word: ``(words, 2 + bits / 2)`` bytes.
        codes: The code of each passage: ``(passages, bits / 8)`` bytes.
        centroids: The code of each cluster.
        clusters: The passages of each cluster.
        probes: Clusters that a query looks into.
    """

    bits: int
    words: list[str]
    rows: NDArray[np.uint8]
    codes: NDArray[np.uint8]
    centroids: NDArray[np.uint8]
    clusters: list[list[int]]
    probes: int


def build_semantic(
    rows: Sequence[tuple[Page, Piece]],
    frequency: Mapping[str, int],
    tokenizer: Tokenizer,
    encoder: Encodes,
    progress: Callable[[int, int], None] | None = None,
    english: int = ENGLISH_WORDS,
) -> Semantic:
    """Encodes ``rows`` and fits the table.

    Args:
        rows: The passages in the index's order, each with its page.
        frequency: Number of passages that hold each term.
        tokenizer: That of the index.
        encoder: Makes the vectors.
        progress: Told how many texts there are, and how many more are encoded.
        english: How many words of English have a row besides the site's.
    """
    import numpy as np

    words = _words(frequency, encoder.words[:english], tokenizer)
    texts = sentences((piece for _, piece in rows), FITTED_TEXTS)
    everything = [*(text_of(page, piece) for page, piece in rows), *words, *texts]
    report = partial(progress, len(everything)) if progress else None
    vectors = encoder.encode(everything, report)
    vectors -= vectors[: len(rows)].mean(axis=0)
    passages, start, wanted = np.split(vectors, [len(rows), len(rows) + len(words)])
    terms = [{part for word in tokenizer.words(text) for part in word.parts} - STOP_WORDS for text in texts]
    scales, nibbles = quantised(fit(start, words, terms, wanted))
    centroids, nearest = clusters(passages)
    order = sorted(range(len(words)), key=list(words).__getitem__)
    table = np.hstack([scales.astype("<u2").view(np.uint8).reshape(-1, 2), nibbles])
    return Semantic(
        bits=DIMENSIONS,
        words=[list(words)[at] for at in order],
        rows=table[order],
        codes=np.packbits(passages > 0, axis=1),
        centroids=np.packbits(centroids > 0, axis=1),
        clusters=[np.flatnonzero(nearest == at).tolist() for at in range(len(centroids))],
        probes=probes(len(centroids)),
    )


def text_of(page: Page, piece: Piece) -> str:
    """What the encoder reads of a passage: its title, headings and beginning."""
    headings = [heading for heading in piece.path if heading != page.title]
    return " > ".join([page.title, *headings]) + "\n" + piece.text[:TEXT_CHARS]


def _words(frequency: Mapping[str, int], english: Sequence[str], tokenizer: Tokenizer) -> dict[str, int]:
    known = [word for word, count in frequency.items() if count >= MIN_WORD_PASSAGES and is_letters(word)]
    site = sorted(known, key=lambda word: (-frequency[word], word))[:SITE_WORDS]
    # As terms: the site's words are.
    others = [parts[0] for word in english if len(parts := tokenizer.words(word)[0].parts) == 1]
    kept = [word for word in dict.fromkeys([*site, *others]) if word not in STOP_WORDS]
    return {word: at for at, word in enumerate(kept)}


def sentences(pieces: Iterable[Piece], most_texts: int) -> list[str]:
    """Headings and sentences, a sample of ``most_texts`` where there are more."""
    least, most = SENTENCE_CHARS
    found: dict[str, None] = {}
    for piece in pieces:
        found.update(dict.fromkeys(piece.path[-1:]))
        found.update(
            (sentence, None)
            for sentence in _SENTENCE.split(piece.text)
            if least < len(sentence) < most and "\t" not in sentence
        )
    texts = list(found)
    random.Random(SEED).shuffle(texts)
    return texts[:most_texts]
