"""File names for spool keys: the twin of ``worker/spoolnames.js``.

A key is any string, also ``a/../b``, ``CON``, or one of two that differ only in case. Its UTF-16 code units are written
in base32 with lower-case letters and digits, cut into path segments that every file system takes. ``d`` begins a
folder's segment and ``f`` the file's.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

#: Characters of one segment at most, its first letter not counted; file systems allow 255 bytes.
SEGMENT = 100


def path_of(key: str) -> list[str]:
    """The folders, then the file, of a key."""
    text = _encode(key)
    cuts = range(0, max(len(text), 1), SEGMENT)
    segments = [text[cut : cut + SEGMENT] for cut in cuts]
    return [f"d{segment}" for segment in segments[:-1]] + [f"f{segments[-1]}"]


def key_of(path: Sequence[str]) -> str:
    """The key of a path that ``path_of`` gave."""
    text = "".join(segment[1:] for segment in path).upper()
    data = base64.b32decode(text + "=" * (-len(text) % 8))
    return data.decode("utf-16-be", "surrogatepass")


def folders_of(prefix: str) -> list[str]:
    """The folders in which every key lies that starts with ``prefix``: a look into others can be saved."""
    known = _encode(prefix)[: len(prefix.encode("utf-16-be", "surrogatepass")) * 8 // 5]
    return [f"d{known[cut : cut + SEGMENT]}" for cut in range(0, len(known) - SEGMENT, SEGMENT)]


def _encode(key: str) -> str:
    return base64.b32encode(key.encode("utf-16-be", "surrogatepass")).decode().rstrip("=").lower()
