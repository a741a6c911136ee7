"""Finished steps by the hash of what went in.

A step writes into an empty folder; the folder is renamed into place at the end, so a broken run leaves nothing that
looks finished.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path


def digest(data: bytes) -> str:
    """SHA-256 of `data`, in hex."""
    return hashlib.sha256(data).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of the file at `path`, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_digest(files: Iterable[Path], base: Path) -> str:
    """One hash over names (relative to `base`) and contents of `files`, in any order."""
    entries = sorted((path.relative_to(base).as_posix(), file_digest(path)) for path in files)
    return key_of(entries)


def key_of(*parts: object) -> str:
    """A cache key from JSON-able parts."""
    return digest(json.dumps(parts, sort_keys=True).encode())


class Cache:
    """A folder of step results.

    Args:
        folder: Where results lie; made when first needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def folder_for(self, step: str, key: str, make: Callable[[Path], None]) -> Path:
        """The result folder of `step` for `key`; `make` fills it when it is not there yet.

        Args:
            step: A short name, first part of the folder's name.
            key: Hash of all that the result depends on.
            make: Called with an empty folder to fill. What it raises passes through and leaves no result.
        """
        final = self.folder / f"{step}-{key[:24]}"
        if final.is_dir():
            return final
        self.folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{step}-", dir=self.folder))
        try:
            make(work)
            work.chmod(0o755)
            try:
                work.replace(final)
            except OSError:
                if not final.is_dir():  # another build was faster: its result is the same
                    raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return final

    def json_for(self, step: str, key: str, make: Callable[[], object]) -> object:
        """Like :meth:`folder_for` for one small JSON value."""

        def write(folder: Path) -> None:
            (folder / "value.json").write_text(json.dumps(make()))

        return json.loads((self.folder_for(step, key, write) / "value.json").read_text())
