"""Small sites for tests: written to a folder, read, indexed and opened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from py_agent.search import IndexSearcher
from py_agent.search.tokens import Tokenizer
from py_agent.site.index import write_index
from py_agent.site.index.postings import Rows, Vocabulary
from py_agent.site.load import load_index
from py_agent.site.read import Site, find_files, read_site
from py_agent.site.semantic import Encoder, Semantic, build_semantic

#: The commonest words of English: those of the questions are among them.
ENGLISH = 4_000
CASES = Path(__file__).parent / "fixtures" / "cases"


def case(name: str) -> dict[str, Any]:
    """A case's description."""
    data: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return data


def html_page(title: str, text: str) -> str:
    return f"<!doctype html><html lang=en><title>{title}</title><main><h1>{title}</h1><p>{text}</p></main></html>"


def make_site(root: Path, pages: Mapping[str, str | Path]) -> Path:
    """Writes pages: ``/guide/install/`` becomes ``guide/install/index.html`` (``.md`` for a Markdown source)."""
    for name, content in pages.items():
        suffix = content.suffix if isinstance(content, Path) else ".html"
        name = name.strip("/")
        file = root / (name if Path(name).suffix in (".html", ".htm", ".md") else f"{name}/index{suffix}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.read_bytes() if isinstance(content, Path) else content.encode())
    return root


def read(root: Path) -> Site:
    return read_site(root, find_files(root), markdown_urls="directory")


def texts(site: Site, page: str) -> str:
    """All text of a page that is in its passages, headings included."""
    found = next((one for one in site.pages if one.page == page), None)
    pieces = found.pieces if found else []
    return "\n".join([(found.title if found else ""), *("\n".join([*piece.path, piece.text]) for piece in pieces)])


async def open_site(root: Path, out: Path) -> IndexSearcher:
    write_index(read(root).pages, out)
    return await load_index(out)


@cache
def encoder() -> Encoder:
    """The real one; loading it takes a second."""
    return Encoder()


def meaning(rows: Rows, words: Vocabulary, tokenizer: Tokenizer) -> Semantic:
    """The vectors of a test's site: fewer words of English than a real one has, for time."""
    return build_semantic(rows, words.frequency, tokenizer, encoder(), english=ENGLISH)
