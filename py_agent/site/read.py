"""A folder of HTML and Markdown to pages and passages; everything that is left out is told, with its reason."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from py_agent.model.errors import ConfigError
from py_agent.site.address import MarkdownUrls, markdown_page
from py_agent.site.chunk import Piece, chunk
from py_agent.site.document import Document
from py_agent.site.html import read_html
from py_agent.site.markdown import read_markdown

HTML = frozenset((".html", ".htm", ".xhtml"))
MARKDOWN = frozenset((".md", ".markdown"))
#: Folders that hold no pages of the site, wherever they lie.
SKIPPED_FOLDERS = frozenset(["node_modules", "__pycache__"])
#: A page that holds at least this many other pages, each for at least this share of its passages, is a collection of
#: them (the manual on one page): every answer would be found twice, once at the worse place.
COLLECTION_MIN_PAGES = 3
COLLECTION_SHARE = 0.9
#: Shorter passages are alike by chance ("Returns: a string") and prove no repetition.
COLLECTION_MIN_CHARS = 80
_NOT_PAGES = re.compile(r"(?:^|/)404\.html?$|(?:^|/)404/index\.html$")


@dataclass
class Page:
    """A page to index."""

    page: str
    title: str
    site_title: str
    language: str
    pieces: list[Piece]


@dataclass
class Skipped:
    """A file that is not in the index, or (``lost`` false) is, but not wholly."""

    file: str
    reason: str
    lost: bool = True


@dataclass
class Site:
    """What was read."""

    pages: list[Page] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def find_files(root: Path) -> list[str]:
    """The pages' files, relative to ``root`` with forward slashes, sorted.

    Raises:
        ConfigError: ``root`` is no folder, or holds no page.
    """
    if not root.is_dir():
        what = "is a file, not a folder" if root.exists() else "does not exist"
        raise ConfigError(f"{root} {what}.", hint="Give the folder that your site generator writes.", code="no_site")
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if not _is_foreign(here / name))
        for name in files:
            if Path(name).suffix.lower() in HTML | MARKDOWN and not name.startswith("."):
                found.append((here / name).relative_to(root).as_posix())
    if not found:
        raise ConfigError(
            f"{root} holds no .html or .md file.", hint="Build your site first, or give another folder.", code="no_site"
        )
    return sorted(found)


def _is_foreign(folder: Path) -> bool:
    if folder.name in SKIPPED_FOLDERS or folder.name.startswith("."):
        return True
    return (folder / "py-agent.js").is_file()  # the agent, installed beside the pages


def read_site(
    root: Path, files: list[str], *, markdown_urls: MarkdownUrls = "html", progress: Callable[[], None] | None = None
) -> Site:
    """Reads ``files`` of ``root``. A file that cannot be read is reported, never an error."""
    site = Site()
    taken: dict[str, str] = {}
    html = {file for file in files if Path(file).suffix.lower() in HTML}
    for file in files:
        page = file if file in html else markdown_page(file, markdown_urls)
        if file not in html and page in html:
            site.skipped.append(Skipped(file, f"its built page {page} is indexed instead"))
        elif page in taken:
            site.skipped.append(Skipped(file, f"{taken[page]} is the page {page} already"))
        else:
            taken[page] = file
            _read_file(site, root, file, page, is_html=file in html)
        if progress:
            progress()
    _drop_collections(site)
    return site


def _read_file(site: Site, root: Path, file: str, page: str, *, is_html: bool) -> None:
    try:
        data = (root / file).read_bytes()
    except OSError as error:
        site.skipped.append(Skipped(file, f"cannot be read: {error.strerror or error}"))
        return
    document = read_html(data) if is_html else read_markdown(data)
    pieces = chunk(document)
    if reason := _why_not(document, page, pieces):
        site.skipped.append(Skipped(file, "; ".join([reason, *document.problems])))
        return
    for problem in document.problems:
        site.skipped.append(Skipped(file, problem, lost=False))
    site.pages.append(Page(page, document.title or Path(page).stem, document.site_title, document.language, pieces))


def _why_not(document: Document, page: str, pieces: list[Piece]) -> str:
    if _NOT_PAGES.search(page):
        return "an error page"
    if document.head.noindex:
        return f"it says {document.head.noindex}"
    if not pieces:
        return "it only lists links to other pages" if document.link_lists else "no text was found in it"
    return ""


def _drop_collections(site: Site) -> None:
    texts = [{key for piece in page.pieces if (key := _repeatable(piece))} for page in site.pages]
    places: dict[str, list[int]] = {}
    for number, found in enumerate(texts):
        for text in found:
            places.setdefault(text, []).append(number)
    kept = []
    for number, page in enumerate(site.pages):
        shared = Counter(other for text in texts[number] for other in places[text] if other != number)
        parts = [
            other
            for other, count in shared.items()
            if count >= COLLECTION_SHARE * len(texts[other]) and len(texts[other]) < len(texts[number])
        ]
        if len(parts) >= COLLECTION_MIN_PAGES and sum(len(texts[one]) for one in parts) >= len(texts[number]) / 2:
            site.skipped.append(Skipped(page.page, f"it repeats {len(parts)} other pages"))
        else:
            kept.append(page)
    site.pages = kept


def _repeatable(piece: Piece) -> str:
    return " ".join(piece.text.split()) if len(piece.text) >= COLLECTION_MIN_CHARS else ""
