"""How ``table.npz`` came about: rows of words that any site starts from, fitted to texts of many kinds.

``python -m py_agent.site.semantic.train --wordnet FOLDER SITE...`` makes it anew. It is run by hand, when the encoder
or the tokenizer changes: docs/search.md names the texts. WordNet's definitions and examples say everyday things in
everyday words, as readers do; the sites say what documentation says.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from py_agent.search.stopwords import STOP_WORDS
from py_agent.search.tokens import is_letters, plain_tokenizer
from py_agent.site.cache import VECTORS, ReadingCache, default_folder
from py_agent.site.read import find_files, read_site
from py_agent.site.semantic.build import SEED, SENTENCE_CHARS, sentences
from py_agent.site.semantic.cache import CachingEncoder
from py_agent.site.semantic.encoder import Encoder
from py_agent.site.semantic.fit import LEVELS, MAX_SCALE, RIDGE, quantised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Texts of WordNet, and of one site: no site outweighs the others.
WORDNET_TEXTS = 60_000
SITE_TEXTS = 1_500
#: Of WordNet's definitions of nouns this share is taken: there are far more of them than of verbs.
NOUN_SHARE = 0.5
#: Texts that a word must stand in to have a row.
MIN_TEXTS = 4
#: Rows of the table, of the words in most texts.
WORDS = 20_000
#: Steps of the conjugate gradients: after these the rows move less than the rounding does.
STEPS = 60
#: Rows that are added up at a time, which bounds the memory to some 50 MB.
ROWS_AT_A_TIME = 32_768

_QUOTED = re.compile(r'"([^"]+)"')


def texts_of_site(folder: Path) -> list[str]:
    """Headings and sentences of a site."""
    found = read_site(folder, find_files(folder))
    return sentences((piece for page in found.pages for piece in page.pieces), SITE_TEXTS)


def texts_of_wordnet(folder: Path) -> list[str]:
    """The examples and definitions in WordNet's files ``data.noun``, ``data.verb``, ``data.adj`` and ``data.adv``."""
    chance = random.Random(SEED)  # noqa: S311 - a sample, no secret
    least, most = SENTENCE_CHARS
    found: dict[str, None] = {}
    for kind in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{kind}").read_text(encoding="latin-1").splitlines():
            head, bar, gloss = line.partition("|")
            if line.startswith("  ") or not bar:
                continue
            fields = head.split()
            names = [fields[4 + 2 * at].replace("_", " ").split("(")[0] for at in range(int(fields[3], 16))]
            found.update(dict.fromkeys(_QUOTED.findall(gloss)))
            if kind != "noun" or chance.random() < NOUN_SHARE:
                definition = _QUOTED.sub("", gloss).strip(" ;\n")
                found[f"{', '.join(names[:3])}: {definition}" if chance.random() < 0.5 else definition] = None
    texts = [text for text in found if least // 2 < len(text) < most]
    chance.shuffle(texts)
    return texts[:WORDNET_TEXTS]


def terms_of(text: str) -> set[str]:
    """The terms of a text that have a meaning of their own."""
    return {part for word in plain_tokenizer.words(text) for part in word.parts} - STOP_WORDS


def solve(
    start: NDArray[np.float32], words: Mapping[str, int], terms: Sequence[Collection[str]], vectors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """As ``fit``, for more texts than a system of equations can have: by conjugate gradients.

    Returns:
        ``(words, dimensions)``.
    """
    import numpy as np

    rows = [[words[term] for term in text if term in words] for text in terms]
    texts = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    columns = np.array([word for row in rows for word in row], np.int64)
    lengths = np.array([max(1, len(row)) for row in rows], np.float32)[:, None]
    order = np.argsort(columns, kind="stable")
    by_text = _Sums(columns, texts, len(rows))
    by_word = _Sums(texts[order], columns[order], len(start))

    def apply(table: NDArray[np.float32]) -> NDArray[np.float32]:
        """The mean of each text's rows."""
        return by_text.of(table) / lengths

    def transposed(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return by_word.of(values / lengths)

    moved = np.zeros_like(start)
    rest = transposed(vectors - apply(start))
    direction = rest.copy()
    size = (rest * rest).sum(axis=0)
    for _ in range(STEPS):
        image = transposed(apply(direction)) + RIDGE * direction
        step = size / np.maximum((direction * image).sum(axis=0), 1e-12)
        moved += step * direction
        rest -= step * image
        new = (rest * rest).sum(axis=0)
        direction = rest + new / np.maximum(size, 1e-12) * direction
        size = new
    table: NDArray[np.float32] = start + moved
    return table


class _Sums:
    """Sums of rows of a table: ``picked`` are the rows, ``into`` the sum that each belongs to, in ascending order."""

    def __init__(self, picked: NDArray[np.int64], into: NDArray[np.int64], count: int) -> None:
        self._picked = picked
        self._into = into
        self._count = count

    def of(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        import numpy as np

        sums = np.zeros((self._count, table.shape[1]), np.float32)
        for start in range(0, len(self._picked), ROWS_AT_A_TIME):
            into = self._into[start : start + ROWS_AT_A_TIME]
            first = np.flatnonzero(np.diff(into, prepend=-1))
            sums[into[first]] += np.add.reduceat(table[self._picked[start : start + ROWS_AT_A_TIME]], first, axis=0)
        return sums


def _sources(wordnet: Path, sites: Sequence[Path]) -> Iterator[tuple[str, list[str]]]:
    yield "WordNet", texts_of_wordnet(wordnet)
    for site in sites:
        yield site.name, texts_of_site(site)


@click.command()
@click.argument("sites", nargs=-1, type=click.Path(path_type=Path))
@click.option("--wordnet", type=click.Path(path_type=Path), required=True, help="Folder of WordNet's data files.")
@click.option("--out", type=click.Path(path_type=Path), default=Path(__file__).with_name("table.npz"))
def main(sites: Sequence[Path], wordnet: Path, out: Path) -> None:
    """Make the table from WordNet and the folders SITES."""
    import numpy as np

    cache = ReadingCache(default_folder(), VECTORS)
    encoder = CachingEncoder(Encoder(), cache)
    texts: list[str] = []
    parts: list[NDArray[np.float32]] = []
    for name, found in _sources(wordnet, sites):
        with click.progressbar(length=len(found), label=f"{name}, {len(found)} texts", file=sys.stderr) as bar:
            vectors = encoder.encode(found, bar.update)
        texts += found
        # Each kind of text around its own centre, as a site's passages are.
        parts.append(vectors - vectors.mean(axis=0))
    terms = [terms_of(text) for text in texts]
    counted = Counter(term for text in terms for term in text if is_letters(term))
    words = {
        word: at
        for at, (word, count) in enumerate(sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:WORDS])
        if count >= MIN_TEXTS
    }
    start = encoder.encode(list(words))
    cache.close()
    table = solve(start - start.mean(axis=0), words, terms, np.concatenate(parts))
    scales, nibbles = quantised(table)
    unit = float(np.abs(table).max()) / (LEVELS * MAX_SCALE)
    np.savez_compressed(out, words=np.array("\n".join(words)), scales=scales, nibbles=nibbles, unit=np.float32(unit))
    click.echo(f"{out}: {len(words)} words of {len(texts)} texts, {out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
