"""Word and code shards: the table that stands for the encoder, and the passages' codes, by cluster."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from typing import Any

from py_agent.site.semantic.build import Semantic

#: Rows of a word shard: some 4 kB, so that a query's handful of words costs little.
SHARD_WORDS = 20


def word_shards(semantic: Semantic) -> Iterator[tuple[str, bytes]]:
    """The contents of the shards, each with its first word."""
    for start in range(0, len(semantic.words), SHARD_WORDS):
        part = semantic.words[start : start + SHARD_WORDS]
        words = "\n".join(part).encode()
        rows = semantic.rows[start : start + SHARD_WORDS].tobytes()
        yield part[0], struct.pack("<II", len(part), len(words)) + words + rows


def code_shards(semantic: Semantic) -> Iterator[bytes]:
    """The contents of the shards, one a cluster."""
    for passages in semantic.clusters:
        head = struct.pack(f"<{len(passages) + 1}I", len(passages), *passages)
        yield head + semantic.codes[passages].tobytes()


def semantic_entry(semantic: Semantic) -> dict[str, Any]:
    """What the directory says of them."""
    centroids = base64.b64encode(semantic.centroids.tobytes()).decode()
    return {"bits": semantic.bits, "probes": semantic.probes, "centroids": centroids}
