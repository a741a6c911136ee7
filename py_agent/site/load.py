"""Opening an index that lies in a folder."""

from __future__ import annotations

import json
from pathlib import Path

from py_agent.model.errors import SearchIndexError
from py_agent.search import IndexSearcher, open_index
from py_agent.search.files import REBUILD, parse_manifest


async def load_index(folder: Path) -> IndexSearcher:
    """Opens the index in ``folder``.

    Raises:
        SearchIndexError: ``missing``, ``damaged``, ``format``.
    """
    where = folder / "manifest.json"
    try:
        data = where.read_bytes()
    except OSError as error:
        raise SearchIndexError(
            f"{folder} holds no index: {where.name} cannot be read ({error.strerror or error}).",
            hint=REBUILD,
            code="missing",
        ) from error
    manifest = parse_manifest(data, str(where))
    files: dict[str, bytes] = {}
    for file in (manifest.files.terms, manifest.files.passages):
        try:
            files[file.path] = (folder / file.path).read_bytes()
        except OSError as error:
            raise SearchIndexError(
                f"The index in {folder} is not whole: {file.path} cannot be read ({error.strerror or error}).",
                hint=REBUILD,
                code="missing",
            ) from error
    return await open_index(json.loads(data), files)
