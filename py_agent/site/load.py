"""Opening an index that lies in a folder."""

from __future__ import annotations

import asyncio
from pathlib import Path

from py_agent.model.errors import SearchIndexError
from py_agent.search import IndexSearcher, open_index
from py_agent.search.manifest import REBUILD


async def load_index(folder: Path) -> IndexSearcher:
    """Opens the index in ``folder``.

    Raises:
        SearchIndexError: ``missing``, ``damaged``, ``format``.
    """

    async def fetch(name: str) -> bytes:
        try:
            return await asyncio.to_thread((folder / name).read_bytes)
        except OSError as error:
            raise SearchIndexError(
                f"The index in {folder} is not whole: {name} cannot be read ({error.strerror or error}).",
                hint=REBUILD,
                code="missing",
            ) from error

    where = folder / "manifest.json"
    try:
        manifest = where.read_bytes()
    except OSError as error:
        raise SearchIndexError(
            f"{folder} holds no index: {where.name} cannot be read ({error.strerror or error}).",
            hint=REBUILD,
            code="missing",
        ) from error
    return await open_index(manifest, fetch, where=str(where))
