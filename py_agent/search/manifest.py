"""``manifest.json``: the only file of an index with a fixed name. It tells what the index is and where it begins."""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field, ValidationError

from py_agent.model.base import Record
from py_agent.model.errors import SearchIndexError
from py_agent.search.tokens import TOKENIZER

#: The version of the layout that this package describes.
FORMAT = 2

REBUILD = "Build the index again with `py-agent index SITE --out INDEX` and deploy the whole folder."


class Manifest(Record):
    """What a manifest says.

    Attributes:
        format: Version of the layout.
        build_id: Changes whenever anything in the index does.
        title: The site's name.
        language: Language tag of most pages; empty if they do not say.
        base_url: The site's root, relative to the manifest's own address, or absolute.
        pages, passages: How many there are.
        tokenizer: Name of the rules by which text was split.
        directory: File that lists all others; its name carries a hash of its content.
        semantic: Whether there are vectors besides words.
    """

    format: int
    build_id: str
    title: str
    language: str
    base_url: str
    pages: int = Field(ge=1)
    passages: int = Field(ge=1)
    tokenizer: str
    directory: str = Field(pattern=r"^directory-[0-9a-f]{12}\.bin$")
    semantic: bool = False


def read_manifest(data: Any) -> Manifest:
    """Checks a parsed manifest.

    Raises:
        SearchIndexError: Not a manifest (``damaged``), or of another format or other tokenizer (``format``).
    """
    version = data.get("format") if isinstance(data, dict) else None
    if isinstance(version, int) and version > FORMAT:
        raise SearchIndexError(
            f"The index has format {version}; this version of py-agent reads format {FORMAT}.",
            hint="Deploy the agent/ folder of the py-agent version that built the index, or build the index again.",
            code="format",
        )
    if isinstance(version, int) and version < FORMAT:
        raise SearchIndexError(
            f"The index was built by an older version of py-agent (format {version}, expected {FORMAT}).",
            hint=REBUILD,
            code="format",
        )
    try:
        manifest = Manifest.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the top level"
        raise SearchIndexError(
            f"manifest.json is not the manifest of an index: {where}: {first['msg']}.", hint=REBUILD, code="damaged"
        ) from error
    if manifest.tokenizer != TOKENIZER:
        raise SearchIndexError(
            f"The index was built by another version of py-agent (tokenizer {manifest.tokenizer!r}, expected"
            f" {TOKENIZER!r}).",
            hint=REBUILD,
            code="format",
        )
    return manifest


def parse_manifest(data: bytes, where: str = "manifest.json") -> Manifest:
    """Reads the bytes of a manifest, as fetched from ``where``.

    Raises:
        SearchIndexError: It is something else (an HTML page, a Git LFS pointer, broken JSON), or as ``read_manifest``.
    """
    try:
        parsed = json.loads(data)
    except ValueError as error:
        raise SearchIndexError(
            f"{where} is {describe(data)}, not the manifest of an index.", hint=cure(data), code="damaged"
        ) from error
    return read_manifest(parsed)


def describe(data: bytes) -> str:
    """What ``data`` looks like, in words: for telling a reader what came instead of an index."""
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not data:
        return "empty"
    if head[:1] == b"<":
        return "an HTML page"
    if head.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer"
    if head[:1] in (b"{", b"["):
        return "other or broken JSON"
    return "other data"


def cure(data: bytes) -> str:
    """What to do about ``data`` that came instead of an index."""
    kind = describe(data)
    if kind == "an HTML page":
        return "A page came where the file should be: check that the index folder is deployed and its address right."
    if kind == "a Git LFS pointer":
        return "The file itself was not fetched from Git LFS: run `git lfs pull` where the site is built."
    return REBUILD
