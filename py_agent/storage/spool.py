"""A spool in memory, for the command line and wherever nothing should outlive the process."""

from __future__ import annotations


class MemorySpool:
    """Bytes by key, in a dict (``storage/base.py``: Spool)."""

    def __init__(self) -> None:
        self._data: dict[str, bytearray] = {}

    async def write(self, key: str, data: bytes) -> None:
        """Stores ``data`` under ``key``, replacing what was there."""
        self._data[key] = bytearray(data)

    async def append(self, key: str, data: bytes) -> None:
        """Adds ``data`` at the end of ``key``, which is made if there is none."""
        self._data.setdefault(key, bytearray()).extend(data)

    async def read(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        """Bytes ``start`` to ``end`` of ``key``.

        Raises:
            KeyError: There is no such key.
        """
        return bytes(memoryview(self._data[key])[start:end])

    async def size(self, key: str) -> int:
        """Length of ``key`` in bytes.

        Raises:
            KeyError: There is no such key.
        """
        return len(self._data[key])

    async def delete(self, prefix: str) -> int:
        """Deletes every key that starts with ``prefix``; returns how many there were."""
        keys = [key for key in self._data if key.startswith(prefix)]
        for key in keys:
            del self._data[key]
        return len(keys)
