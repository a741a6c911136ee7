"""Term shards: sorted terms, each with its weight and the passages that hold it.

A shard, all numbers little-endian::

    u32 count, u32 bytes of the terms
    u32 offset of each term's slice behind the terms, one more than there are terms
    u16 idf of each term, in thousandths
    the terms, sorted by their UTF-8 bytes, with line feeds between them
    the slices

A slice is one byte of flags, three bytes of the first passage's number, the gaps to the others in the width that the
flags tell, one byte of impact a passage, and, where the flags say so, one byte a passage with the number of different
terms in its heading, 0 where the term does not stand in it. A slice with the flag ``LONG`` holds the number of the list
shard that is the slice instead (u32): only queries for that term pay for it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

#: Flags of a slice: two bits of width (0, 1, 2: gaps of 1, 2, 4 bytes), headings, and a list shard of its own.
WIDTH = 0b0011
HEADINGS = 0b0100
LONG = 0b1000
#: An impact is stored as 1 to this: 8 bits lose nothing measurable.
MAX_IMPACT = 255
#: Thousandths in an idf.
IDF_SCALE = 1_000

_FORMATS = "BHI"


class Postings(NamedTuple):
    """The passages that hold a term, in order.

    Attributes:
        passages: Their numbers.
        impacts: 1 to ``MAX_IMPACT`` each.
        headings: Number of different terms in the heading of each, 0 where the term does not stand in it; empty: it
            stands in none.
    """

    passages: Sequence[int]
    impacts: bytes
    headings: bytes = b""


class Entry(NamedTuple):
    """A term of a shard: its idf in thousandths, and its slice."""

    idf: int
    data: bytes

    @property
    def list_number(self) -> int | None:
        """The list shard that holds the passages; None: the slice does."""
        return struct.unpack_from("<I", self.data, 1)[0] if self.data[0] & LONG else None


class TermShard:
    """A parsed shard.

    Raises:
        struct.error, ValueError, IndexError: The data is no shard.
    """

    def __init__(self, data: bytes) -> None:
        count, size = struct.unpack_from("<II", data)
        self._offsets = struct.unpack_from(f"<{count + 1}I", data, 8)
        self._idf = struct.unpack_from(f"<{count}H", data, 12 + 4 * count)
        start = 12 + 6 * count
        self.terms = data[start : start + size].decode().split("\n")
        self._numbers = {term: number for number, term in enumerate(self.terms)}
        self._slices = data[start + size :]
        if len(self.terms) != count or self._offsets[-1] != len(self._slices):
            raise ValueError("a term shard that does not fit its header")

    def get(self, term: str) -> Entry | None:
        """The entry of ``term``, or None."""
        number = self._numbers.get(term)
        if number is None:
            return None
        return Entry(self._idf[number], self._slices[self._offsets[number] : self._offsets[number + 1]])


def encode(postings: Postings) -> bytes:
    """The slice of ``postings``, which must not be empty."""
    passages = postings.passages
    gaps = [later - earlier for earlier, later in pairwise(passages)]
    widest = max(gaps, default=0)
    width = 0 if widest < 1 << 8 else 1 if widest < 1 << 16 else 2
    flags = width | (HEADINGS if postings.headings else 0)
    head = bytes([flags]) + passages[0].to_bytes(3, "little")
    packed = struct.pack(f"<{len(gaps)}{_FORMATS[width]}", *gaps)
    return head + packed + postings.impacts + postings.headings


def decode(data: bytes) -> Postings:
    """The postings of a slice that is not long.

    Raises:
        struct.error, ValueError, IndexError: The data is no slice.
    """
    flags = data[0]
    size = 1 << (flags & WIDTH)
    columns = 2 if flags & HEADINGS else 1
    count, rest = divmod(len(data) - 4 + size, size + columns)
    if rest or count < 1 or flags & LONG or size > 4:
        raise ValueError("a slice that does not fit its flags")
    end = 4 + (count - 1) * size
    gaps = struct.unpack_from(f"<{count - 1}{_FORMATS[flags & WIDTH]}", data, 4) if size > 1 else data[4:end]
    passages = list(accumulate(gaps, initial=int.from_bytes(data[1:4], "little")))
    return Postings(passages, data[end : end + count], data[end + count :])


def encode_shard(rows: Sequence[tuple[str, int, bytes]]) -> bytes:
    """A shard of ``(term, idf, slice)``, sorted by the term's bytes."""
    terms = "\n".join(term for term, _, _ in rows).encode()
    offsets = list(accumulate((len(data) for _, _, data in rows), initial=0))
    head = struct.pack("<II", len(rows), len(terms)) + struct.pack(f"<{len(offsets)}I", *offsets)
    return head + struct.pack(f"<{len(rows)}H", *(idf for _, idf, _ in rows)) + terms + b"".join(d for _, _, d in rows)


def long_slice(number: int) -> bytes:
    """The slice that points to list shard ``number``."""
    return bytes([LONG]) + struct.pack("<I", number)
