"""Meaning without a model in the page: vectors of one bit a dimension, and a table of words fitted to the site.

When an index is built, an encoder reads every passage and gives a vector; its signs are the passage's code. No encoder
runs at query time: the index holds a row of small numbers for each word, fitted so that the sum of a text's rows points
where the encoder would. The signs of a query's sum are its code, and passages are compared by the bits that differ.

The arithmetic, so that every reader of an index comes to the same code (``web/search/semantic.js``)::

    sum[d]  = sum over the query's different terms: scale * (nibble[d] - 8), of the term's row
    bit d   = 1 where sum[d] > 0; bit 0 is the highest of the first byte
    likeness = bits - popcount(query xor passage)

A row is two bytes of scale (little-endian) and half a byte a dimension, the even dimension in the low half. A word
shard is u32 count, u32 bytes of the words, the words with line feeds between them, and the rows. A code shard is u32
count, as many u32 passages, and as many codes.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class SemanticInfo:
    """What the directory says.

    Attributes:
        bits: Dimensions, a multiple of 8.
        probes: Clusters that a query looks into.
        centroids: The code of each cluster; one for all passages where there are few.

    Raises:
        KeyError, TypeError, ValueError: The data is something else.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.bits = int(data["bits"])
        self.probes = int(data["probes"])
        codes = base64.b64decode(data["centroids"])
        if self.bits <= 0 or self.bits % 8 or len(codes) % (self.bits // 8):
            raise ValueError("the vectors' dimensions do not fit")
        self.centroids = split_codes(codes, self.bits)

    def nearest(self, code: int) -> list[int]:
        """The clusters that a query with ``code`` looks into, nearest first."""
        order = sorted(range(len(self.centroids)), key=lambda at: ((code ^ self.centroids[at]).bit_count(), at))
        return order[: self.probes]


class Row(NamedTuple):
    """A word's row: ``scale`` times ``nibbles`` less 8 is what it adds to a query."""

    scale: int
    nibbles: bytes


class WordShard:
    """A parsed word shard.

    Raises:
        struct.error, ValueError: The data is none.
    """

    def __init__(self, data: bytes, bits: int) -> None:
        count, size = struct.unpack_from("<II", data)
        words = data[8 : 8 + size].decode().split("\n")
        width = 2 + bits // 2
        rows = data[8 + size :]
        if len(words) != count or len(rows) != count * width:
            raise ValueError("a word shard that does not fit its header")
        self._rows = {word: rows[at * width : (at + 1) * width] for at, word in enumerate(words)}

    def get(self, word: str) -> Row | None:
        """The row of ``word``, or None."""
        row = self._rows.get(word)
        return None if row is None else Row(int.from_bytes(row[:2], "little"), row[2:])


class CodeShard:
    """A parsed code shard: passages and their codes.

    Raises:
        struct.error, ValueError: The data is none.
    """

    def __init__(self, data: bytes, bits: int) -> None:
        (count,) = struct.unpack_from("<I", data)
        self.passages: Sequence[int] = struct.unpack_from(f"<{count}I", data, 4)
        codes = data[4 + 4 * count :]
        if len(codes) != count * bits // 8:
            raise ValueError("a code shard that does not fit its header")
        self.codes = split_codes(codes, bits)

    def likeness(self, code: int, bits: int) -> list[tuple[int, int]]:
        """``(likeness, passage)`` of every passage in the shard."""
        return [
            (bits - (code ^ other).bit_count(), passage)
            for other, passage in zip(self.codes, self.passages, strict=True)
        ]


def split_codes(data: bytes, bits: int) -> list[int]:
    """The codes that stand one behind the other in ``data``."""
    size = bits // 8
    return [int.from_bytes(data[at : at + size], "big") for at in range(0, len(data), size)]


def query_code(rows: Iterable[Row], bits: int) -> int | None:
    """The code of a query whose words have ``rows``; None: there are none."""
    low, high = [0] * (bits // 2), [0] * (bits // 2)
    empty = True
    for scale, nibbles in rows:
        empty = False
        low = [total + scale * ((pair & 15) - 8) for total, pair in zip(low, nibbles, strict=True)]
        high = [total + scale * ((pair >> 4) - 8) for total, pair in zip(high, nibbles, strict=True)]
    if empty:
        return None
    signs = "".join(f"{one > 0:d}{two > 0:d}" for one, two in zip(low, high, strict=True))
    return int(signs, 2)
