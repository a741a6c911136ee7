"""Vectors of texts that were encoded before: what did not change on a site is not encoded again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from py_agent.site.semantic.encoder import DIMENSIONS, NAME

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Texts that are encoded between two commits: what a build that is stopped has done stays done.
TEXTS_PER_COMMIT = 1_024


class Encodes(Protocol):
    """What makes vectors: an ``Encoder``."""

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """As ``Encoder.encode``."""
        ...


class VectorCache:
    """A SQLite file of vectors by the hash of their text, as float16.

    Args:
        path: The file; None: nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path or ":memory:")
        self._connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def encode(
        self, encoder: Encodes, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """The vectors of ``texts``, from the file where it has them; see ``Encoder.encode``."""
        import numpy as np

        keys = [hashlib.sha256(f"{NAME}\n{text}".encode()).digest() for text in texts]
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        missing: list[int] = []
        for at, key in enumerate(keys):
            row = self._connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is None:
                missing.append(at)
            else:
                vectors[at] = np.frombuffer(row[0], np.float16)
        if progress:
            progress(len(texts) - len(missing))
        for start in range(0, len(missing), TEXTS_PER_COMMIT):
            part = missing[start : start + TEXTS_PER_COMMIT]
            # Rounded as the file rounds: a build from the cache gives the same index.
            vectors[part] = encoder.encode([texts[at] for at in part], progress).astype(np.float16)
            rows = [(keys[at], vectors[at].astype(np.float16).tobytes()) for at in part]
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        return vectors

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()
