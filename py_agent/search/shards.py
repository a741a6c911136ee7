"""Shards: the files of an index, fetched when a query needs them, checked, unpacked, and kept for the next one.

Every shard is compressed by us (gzip), because many hosts compress nothing that they do not know, and is named after
its kind and the SHA-256 of its uncompressed content: whatever compressed it on the way, the name can be checked.
"""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from py_agent.model.errors import SearchIndexError
from py_agent.search.manifest import REBUILD, cure, describe

#: Hexadecimal digits of a hash in a name: 48 bits tell the shards of one site apart.
HASH_CHARS = 12
#: Unpacked bytes of shards that stay in memory; the longest unused go first.
CACHE_BYTES = 48_000_000
#: No shard is larger unpacked: a damaged one must not fill the memory.
MAX_SHARD_BYTES = 64_000_000

_GZIP = b"\x1f\x8b"

#: Gets a file of the index by its name. Raises ``SearchIndexError`` (``missing``, ``offline``) where it cannot.
Fetch = Callable[[str], Awaitable[bytes]]
#: Awaited between slices of work: gives the event loop its turn.
Breathe = Callable[[], Awaitable[None]]

_T = TypeVar("_T")


def shard_name(kind: str, digest: str) -> str:
    """The file name of a shard."""
    return f"{kind}-{digest}.bin"


def digest_of(content: bytes) -> str:
    """The hash that a shard's name carries."""
    return hashlib.sha256(content).hexdigest()[:HASH_CHARS]


def pack(content: bytes) -> bytes:
    """``content`` as it lies on the host: the same bytes on every machine with the same zlib."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    return compressor.compress(content) + compressor.flush()


def unpack(name: str, data: bytes) -> bytes:
    """The content of the file ``name``, checked against the hash in its name.

    Raises:
        SearchIndexError: ``damaged``: it is cut, changed, or something else.
    """
    content = data
    if data.startswith(_GZIP):
        unpacker = zlib.decompressobj(31)
        try:
            content = unpacker.decompress(data, MAX_SHARD_BYTES)
        except zlib.error as error:
            raise SearchIndexError(
                f"{name} is damaged: it cannot be unpacked ({error}).", hint=REBUILD, code="damaged"
            ) from error
        if not unpacker.eof:
            raise SearchIndexError(f"{name} is cut short.", hint=REBUILD, code="damaged")
    if digest_of(content) == name[-HASH_CHARS - 4 : -4]:
        return content
    kind = describe(data)
    if kind == "other data":
        what = f"{name} is stale or damaged: its content is not what its name says."
    else:
        what = f"{name} is {kind}, not a file of the index."
    raise SearchIndexError(what, hint=cure(data), code="damaged")


class Shards:
    """The shards that were loaded, parsed; a shard that two queries want at once is fetched once."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._kept: OrderedDict[str, tuple[int, Any]] = OrderedDict()
        self._size = 0
        self._coming: dict[str, asyncio.Task[Any]] = {}

    async def load(self, name: str, parse: Callable[[bytes], _T]) -> _T:
        """The parsed content of the file ``name``.

        Raises:
            SearchIndexError: ``missing``, ``offline``, ``damaged``.
        """
        if name in self._kept:
            self._kept.move_to_end(name)
            found: _T = self._kept[name][1]
            return found
        if name not in self._coming:
            self._coming[name] = asyncio.ensure_future(self._load(name, parse))
            self._coming[name].add_done_callback(lambda task: self._done(name, task))
        # A stopped query must not take the shard from another one that waits for it.
        value: _T = await asyncio.shield(self._coming[name])
        return value

    def _done(self, name: str, task: asyncio.Task[Any]) -> None:
        self._coming.pop(name, None)
        if not task.cancelled():
            task.exception()  # nobody may be left to hear of it: it is told when the shard is asked for again

    async def _load(self, name: str, parse: Callable[[bytes], _T]) -> _T:
        content = unpack(name, await self._fetch(name))
        try:
            value = parse(content)
        except Exception as error:
            raise SearchIndexError(
                f"{name} is damaged: {type(error).__name__}: {error}.", hint=REBUILD, code="damaged"
            ) from error
        self._kept[name] = (len(content), value)
        self._size += len(content)
        while self._size > CACHE_BYTES and len(self._kept) > 1:
            _, (size, _old) = self._kept.popitem(last=False)
            self._size -= size
        return value
