"""The index on disk: what its files hold, and opening them cheaply.

``manifest.json`` names two files with content-hashed names:

* ``terms-HASH.jsonl``: line 0 is the header (``pages``: ``[page, title, first passage]``; per passage ``heads``: terms
  in its leaf heading, ``places``: number of its address, ``notes``: 1 for release notes); then one line a term, sorted
  by the term's UTF-8 bytes: ``["term", [gap, value, gap, value, ...]]`` with gaps between passage numbers and
  ``value = impact * 2 + in_heading``.
* ``passages-HASH.jsonl``: one line a passage: ``{"anchor", "url", "path", "text"}``.

Both stay bytes: a term is found by bisection over the lines, and a line is parsed when a query needs it. So opening
costs a checksum and the header, whatever the size.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from pydantic import Field, ValidationError

from py_agent.model.base import Record
from py_agent.model.errors import SearchIndexError
from py_agent.model.passage import Passage
from py_agent.search.tokens import TOKENIZER

#: The version of the layout above.
FORMAT = 1
#: Bytes hashed, or scanned for line ends, between two breaths: about 2 ms in Pyodide.
SLICE_BYTES = 262_144
#: An impact is stored as 1 to this: 8 bits lose nothing measurable.
MAX_IMPACT = 255

REBUILD = "Build the index again with `py-agent index SITE --out INDEX` and deploy the whole folder."

Breathe = Callable[[], Awaitable[None]]


class IndexFile(Record):
    """A file of the index, as its manifest describes it."""

    path: str
    bytes: int
    sha256: str


class IndexFiles(Record):
    """The files that a manifest names."""

    terms: IndexFile
    passages: IndexFile


class Manifest(Record):
    """``manifest.json``. ``base_url`` is the site's root, relative to the manifest's own address, or absolute."""

    format: int
    build_id: str
    title: str
    language: str
    base_url: str
    pages: int
    passages: int
    files: IndexFiles
    tokenizer: str
    averages: dict[str, float] = Field(default_factory=dict)


def read_manifest(data: dict[str, Any]) -> Manifest:
    """Checks a parsed manifest.

    Raises:
        SearchIndexError: Not a manifest (``damaged``), or of a newer format or other tokenizer (``format``).
    """
    version = data.get("format") if isinstance(data, dict) else None
    if isinstance(version, int) and version > FORMAT:
        raise SearchIndexError(
            f"The index has format {version}; this version of py-agent reads format {FORMAT}.",
            hint="Deploy the agent/ folder of the py-agent version that built the index, or build the index again.",
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
    if manifest.tokenizer != TOKENIZER or manifest.format != FORMAT:
        raise SearchIndexError(
            f"The index was built by another version of py-agent (tokenizer {manifest.tokenizer!r}, format"
            f" {manifest.format}; expected {TOKENIZER!r}, {FORMAT}).",
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
            f"{where} is {describe(data)}, not the manifest of an index.", hint=_cure(data), code="damaged"
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


def _cure(data: bytes) -> str:
    kind = describe(data)
    if kind == "an HTML page":
        return "A page came where the file should be: check that the index folder is deployed and its address right."
    if kind == "a Git LFS pointer":
        return "The file itself was not fetched from Git LFS: run `git lfs pull` where the site is built."
    return REBUILD


async def verify(file: IndexFile, data: bytes, breathe: Breathe) -> None:
    """Compares ``data`` with what the manifest says of it, in slices.

    Raises:
        SearchIndexError: ``damaged``: other bytes than the manifest's.
    """
    digest = hashlib.sha256()
    for start in range(0, len(data), SLICE_BYTES):
        digest.update(data[start : start + SLICE_BYTES])
        await breathe()
    if digest.hexdigest() == file.sha256:
        return
    kind = describe(data)
    if kind in ("an HTML page", "a Git LFS pointer", "empty"):
        what = f"{file.path} is {kind}, not a file of the index."
    elif len(data) < file.bytes:
        what = f"{file.path} is cut short: {len(data)} of {file.bytes} bytes."
    else:
        what = f"{file.path} does not match its manifest: one of the two is stale or damaged."
    raise SearchIndexError(what, hint=_cure(data), code="damaged")


class Terms:
    """The terms file: header and postings."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._data = data
        self._start = data.find(b"\n") + 1
        try:
            header = json.loads(data[: self._start])
            self.pages: list[tuple[str, str, int]] = [(str(p), str(t), int(n)) for p, t, n in header["pages"]]
            self.heads: list[int] = header["heads"]
            self.places: list[int] = header["places"]
            self.notes: list[int] = header["notes"]
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged("its header cannot be read") from error

    def _damaged(self, why: str) -> SearchIndexError:
        return SearchIndexError(f"{self._path} is damaged: {why}.", hint=REBUILD, code="damaged")

    def postings(self, term: str) -> list[int]:
        """Gaps and values of a term, alternating; empty if the index lacks it.

        Raises:
            SearchIndexError: ``damaged``: the term's line cannot be read.
        """
        wanted = term.encode()
        data, low, high = self._data, self._start, len(self._data)
        while low < high:
            start = data.rfind(b"\n", self._start - 1, (low + high) // 2) + 1
            end = data.find(b'",', start)
            found = data[start + 2 : end]
            if found == wanted:
                try:
                    values: list[int] = json.loads(data[start : data.find(b"\n", start)])[1]
                except (ValueError, IndexError) as error:
                    raise self._damaged(f"the line of {term!r} cannot be read") from error
                return values
            if found < wanted:
                low = data.find(b"\n", end) + 1
            else:
                high = start
        return []

    def slices(self) -> Iterator[list[str]]:
        """The whole vocabulary in sorted order, a slice of the file at a time."""
        position = self._start
        while position < len(self._data):
            end = self._data.find(b"\n", min(position + SLICE_BYTES // 4, len(self._data) - 1)) + 1 or len(self._data)
            lines = self._data[position:end].split(b"\n")
            yield [line[2 : line.find(b'",')].decode() for line in lines if line]
            position = end


class Passages:
    """The passages file: a table of line ends, and passages parsed on demand."""

    def __init__(self, path: str, data: bytes, terms: Terms) -> None:
        self._path = path
        self._data = data
        self._terms = terms
        self._starts: list[int] = []
        self._page_of: list[int] = []

    async def open(self, breathe: Breathe) -> None:
        """Finds the lines, in slices.

        Raises:
            SearchIndexError: ``damaged``: it has not as many passages as the terms file says.
        """
        position, breath = 0, SLICE_BYTES
        while position < len(self._data):
            self._starts.append(position)
            position = self._data.find(b"\n", position) + 1 or len(self._data)
            if position > breath:
                breath = position + SLICE_BYTES
                await breathe()
        firsts = [first for _, _, first in self._terms.pages] + [len(self._starts)]
        for number in range(len(firsts) - 1):
            self._page_of.extend([number] * (firsts[number + 1] - firsts[number]))
        if len(self._starts) != len(self._terms.places) or len(self._page_of) != len(self._starts):
            raise SearchIndexError(
                f"{self._path} has {len(self._starts)} passages, the terms file expects {len(self._terms.places)}.",
                hint=REBUILD,
                code="damaged",
            )

    def __len__(self) -> int:
        return len(self._starts)

    def get(self, number: int) -> Passage:
        """Passage ``number``, from 0."""
        start = self._starts[number]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._data)
        page, title, _ = self._terms.pages[self._page_of[number]]
        try:
            row = json.loads(self._data[start:end])
            return Passage(
                id=passage_id(number),
                page=page,
                anchor=row["anchor"],
                url=row["url"],
                title=title,
                path=tuple(row["path"]),
                text=row["text"],
            )
        except (ValueError, KeyError, TypeError) as error:
            raise SearchIndexError(
                f"{self._path} is damaged: line {number + 1}.", hint=REBUILD, code="damaged"
            ) from error

    def page_of(self, number: int) -> int:
        """The number of the page that passage ``number`` is on."""
        return self._page_of[number]

    def of_page(self, page: str) -> range:
        """The numbers of a page's passages; empty if there is no such page."""
        for number, (name, _, first) in enumerate(self._terms.pages):
            if name == page:
                last = self._terms.pages[number + 1][2] if number + 1 < len(self._terms.pages) else len(self)
                return range(first, last)
        return range(0)


def passage_id(number: int) -> str:
    """The id of passage ``number`` (from 0): ``p1`` is the first."""
    return f"p{number + 1}"


def passage_number(name: str) -> int | None:
    """The number (from 0) that an id stands for, or None if it has not the form of one."""
    digits = name[1:]
    if name[:1] != "p" or not digits.isascii() or not digits.isdigit() or digits[0] == "0":
        return None
    return int(digits) - 1
