"""One file to passages, as a value that travels between processes and into the cache."""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

from py_agent.site.chunk import Piece, chunk
from py_agent.site.document import Document
from py_agent.site.head import Head
from py_agent.site.html import read_html
from py_agent.site.markdown import read_markdown
from py_agent.site.rst import read_rst

HTML = frozenset((".html", ".htm", ".xhtml"))
MARKDOWN = frozenset((".md", ".markdown"))
MDX = frozenset((".mdx",))
RST = frozenset((".rst",))
SOURCES = MARKDOWN | MDX | RST
# What decides what comes out of a file: these modules, and the libraries under them.
_MODULES = "address chunk content decode document head html inner markdown markup reading rst tabs walk".split()
_LIBRARIES = ("docutils", "markdown-it-py", "mdit-py-plugins", "selectolax", "webencodings")
#: How hard the kept readings are pressed: level 1 halves the time of 6 and costs a tenth more room.
COMPRESSION = 1


@dataclass(frozen=True)
class Wishes:
    """What a site's own rules say of the reading of one file: CSS selectors of its main part, and of what to drop."""

    content: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


NO_WISHES = Wishes()


@dataclass
class Reading:
    """What came out of one file."""

    title: str = ""
    site_title: str = ""
    language: str = ""
    head: Head = field(default_factory=Head)
    problems: list[str] = field(default_factory=list)
    link_lists: int = 0
    pieces: list[Piece] = field(default_factory=list)

    def pack(self) -> bytes:
        """The reading as bytes."""
        row = {
            **vars(self),
            "head": vars(self.head),
            "pieces": [[p.anchor, p.path, p.text, p.fragment] for p in self.pieces],
        }
        return zlib.compress(
            json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"), COMPRESSION
        )

    @classmethod
    def unpack(cls, data: bytes) -> Reading:
        """A reading from its bytes.

        Raises:
            ValueError: They are not what ``pack`` wrote.
        """
        try:
            row: dict[str, Any] = json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))
            head = Head(**row.pop("head"))
            pieces = [Piece(anchor, tuple(path), text, fragment) for anchor, path, text, fragment in row.pop("pieces")]
            return cls(head=head, pieces=pieces, **row)
        except (zlib.error, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a reading: {error}") from error


def read_bytes(data: bytes, suffix: str, wishes: Wishes = NO_WISHES) -> Reading:
    """Reads one file's bytes. ``suffix`` tells its kind: ``.html``, ``.md``, ``.mdx``, ``.rst`` ..."""
    document = _document(data, suffix, wishes)
    return Reading(
        document.title,
        document.site_title,
        document.language,
        document.head,
        document.problems,
        document.link_lists,
        chunk(document),
    )


def _document(data: bytes, suffix: str, wishes: Wishes) -> Document:
    if suffix in RST:
        return read_rst(data)
    if suffix in MARKDOWN or suffix in MDX:
        return read_markdown(data, mdx=suffix in MDX)
    return read_html(data, content=wishes.content, drop=wishes.drop)


def suffix_of(file: str) -> str:
    """What kind of file it is, by its name."""
    return PurePosixPath(file).suffix.lower()


def key_of(data: bytes, suffix: str, wishes: Wishes) -> str:
    """Under which key a reading is kept: the same bytes, read by the same code under the same rules."""
    rules = json.dumps([suffix, wishes.content, wishes.drop])
    return hashlib.sha256(b"\0".join([reader_version().encode(), rules.encode(), data])).hexdigest()


@cache
def reader_version() -> str:
    """A hash over the reader's code and the versions of its libraries: a change of either makes every page new."""
    digest = hashlib.sha256()
    for name in _MODULES:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    for library in _LIBRARIES:
        digest.update(f"{library} {version(library)}\n".encode())
    return digest.hexdigest()
