"""Spools of CPython: in memory, for what should not outlive the process, and in a folder. The page's is
``worker/spool.js``.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from py_agent.model.errors import StorageError
from py_agent.storage.spoolnames import folders_of, key_of, path_of


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


class FolderSpool:
    """One file a key below a folder (``storage/base.py``: Spool), named as in the page's spool.

    Args:
        root: The folder; made by the first write.
    """

    def __init__(self, root: str | Path) -> None:
        self._root = Path(root)

    async def write(self, key: str, data: bytes) -> None:
        """Stores ``data`` under ``key``, replacing what was there: whole, or not at all.

        Raises:
            StorageError: ``full``, ``unavailable``; nothing is left under ``key`` then.
        """
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(data)
        except OSError as error:
            with contextlib.suppress(OSError):  # half a result must not be read as a whole one later
                path.unlink()
            raise _refused(path, error) from error

    async def append(self, key: str, data: bytes) -> None:
        """Adds ``data`` at the end of ``key``, which is made if there is none.

        Raises:
            StorageError: ``full``, ``unavailable``; what stood there before stays as it was.
        """
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab", buffering=0) as file:
                before = file.tell()
                try:
                    if file.write(data) != len(data):
                        raise OSError(errno.ENOSPC, "the write was cut")
                except OSError:
                    file.truncate(before)  # half a record must not be read as a whole one later
                    raise
        except OSError as error:
            raise _refused(path, error) from error

    async def read(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        """Bytes ``start`` to ``end`` of ``key``.

        Raises:
            KeyError: There is no such key.
        """
        with _missing(key), self._path(key).open("rb") as file:
            file.seek(start)
            return file.read() if end is None else file.read(max(end - start, 0))

    async def size(self, key: str) -> int:
        """Length of ``key`` in bytes.

        Raises:
            KeyError: There is no such key.
        """
        with _missing(key):
            return self._path(key).stat().st_size

    async def delete(self, prefix: str) -> int:
        """Deletes every key that starts with ``prefix``; returns how many there were."""
        known = folders_of(prefix)
        removed = 0
        try:
            for path in list(self._root.joinpath(*known).rglob("f*")):
                if path.is_file() and key_of(path.relative_to(self._root).parts).startswith(prefix):
                    path.unlink()
                    removed += 1
                    self._prune(path.parent)
        except OSError as error:
            raise _refused(self._root, error) from error
        return removed

    def _path(self, key: str) -> Path:
        return self._root.joinpath(*path_of(key))

    def _prune(self, folder: Path) -> None:
        while folder != self._root and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent


@contextlib.contextmanager
def _missing(key: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise KeyError(key) from None
    except OSError as error:
        raise StorageError(
            f"The spool could not be read: {error}.", hint="Check the folder's permissions.", code="unavailable"
        ) from error


def _refused(path: Path, error: OSError) -> StorageError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StorageError(f"There is no more space for {path}.", hint="Free some space on the disk.", code="full")
    return StorageError(
        f"The folder of {path} refused: {error}.", hint="Check that it exists and may be written.", code="unavailable"
    )
