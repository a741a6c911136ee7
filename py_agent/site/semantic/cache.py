"""Vectors of texts that were encoded before: what did not change on a site is not encoded again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from py_agent.site.cache import ReadingCache
from py_agent.site.semantic.encoder import DIMENSIONS, NAME

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Texts that are looked up and encoded at a time: what a build that is stopped has done stays done.
TEXTS_AT_A_TIME = 1_024


class Encodes(Protocol):
    """What makes vectors: an ``Encoder``."""

    words: Sequence[str]

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """As ``Encoder.encode``."""
        ...


class CachingEncoder:
    """An encoder that keeps its vectors, as float16, by the hash of their texts.

    Args:
        encoder: Makes the vectors that are not kept.
        cache: Keeps them.
    """

    def __init__(self, encoder: Encodes, cache: ReadingCache) -> None:
        self.words = encoder.words
        self._encoder = encoder
        self._cache = cache

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """As ``Encoder.encode``."""
        import numpy as np

        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(texts), TEXTS_AT_A_TIME):
            part = texts[start : start + TEXTS_AT_A_TIME]
            keys = [hashlib.sha256(f"{NAME}\n{text}".encode()).hexdigest() for text in part]
            kept = self._cache.get(keys)
            missing: list[int] = []
            for at, key in enumerate(keys):
                vector = np.frombuffer(kept.get(key, b""), np.float16)
                if len(vector) == DIMENSIONS:
                    vectors[start + at] = vector
                else:
                    missing.append(at)
            if progress:
                progress(len(part) - len(missing))
            if not missing:
                continue
            # Rounded as they are kept: a build that takes them from the cache gives the same index.
            made = self._encoder.encode([part[at] for at in missing], progress).astype(np.float16)
            vectors[[start + at for at in missing]] = made
            self._cache.put({keys[at]: vector.tobytes() for at, vector in zip(missing, made, strict=True)})
        return vectors
