"""The table of words: rows whose sum points where the encoder would point a text.

Each word starts from what the encoder makes of it alone. Then ridge regression moves the rows of the site's words so
that the means of its headings' and sentences' rows come near the encoder's vectors of them. There are fewer texts than
words, so the regression is solved in the space of the texts: one system of as many equations as there are texts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Weight of staying near the start. Six corpora: from 0.03 to 0.3 alike; from 1 on meaning finds less.
RIDGE = 0.1
#: Half a byte holds -7 to 7 (stored as 1 to 15).
LEVELS = 7
#: The greatest scale that two bytes hold.
MAX_SCALE = 0xFFFF


def fit(
    start: NDArray[np.float32], words: Mapping[str, int], texts: Sequence[Collection[str]], vectors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The rows of the words, fitted.

    Args:
        start: The encoder's vector of each word, less the mean of the site's passages: ``(words, dimensions)``.
        words: Row numbers.
        texts: The different terms of each text; those that are no word count for nothing.
        vectors: The encoder's vector of each text, less the same mean: ``(texts, dimensions)``.

    Returns:
        ``(words, dimensions)``.
    """
    import numpy as np

    counts = np.zeros((len(texts), len(words)), np.float32)
    for at, text in enumerate(texts):
        found = [words[term] for term in text if term in words]
        if found:
            counts[at, found] = 1 / len(found)
    used = counts.any(axis=1)
    counts, wanted = counts[used], vectors[used]
    if not len(counts):
        return start
    gram = counts @ counts.T
    gram[np.diag_indices_from(gram)] += RIDGE
    fitted: NDArray[np.float32] = start + counts.T @ np.linalg.solve(gram, wanted - counts @ start)
    return fitted


def quantised(rows: NDArray[np.float32]) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Rows as whole numbers: a scale each, and half a byte a dimension (``search/semantic.py`` says how they are read).

    Returns:
        Scales ``(words,)`` and nibbles, two to a byte: ``(words, dimensions / 2)``.
    """
    import numpy as np

    greatest = np.maximum(np.abs(rows).max(axis=1), 1e-9)
    levels = np.clip(np.rint(rows / greatest[:, None] * LEVELS), -LEVELS, LEVELS).astype(np.int8) + 8
    scales = np.maximum(1, np.rint(greatest / greatest.max() * MAX_SCALE)).astype(np.uint16)
    packed = (levels[:, 0::2] | (levels[:, 1::2] << 4)).astype(np.uint8)
    return scales, packed
