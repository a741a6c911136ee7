"""A folder of HTML and Markdown to pages and passages; everything that is left out is told, with its reason."""

from __future__ import annotations

import os
import re
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
#: Folders that hold no pages of the site: tools' own, sources copied beside the pages, and the agent itself.
SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__", "_sources", "_static", "agent"))
#: A page whose text stands in links for at least this share ...
LINK_LIST_SHARE = 0.9
#: ... and that has at least this many links is an index of other pages: it answers nothing and matches everything.
LINK_LIST_MIN_LINKS = 100
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
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith("."))
        for name in files:
            if Path(name).suffix.lower() in HTML | MARKDOWN and not name.startswith("."):
                found.append((Path(folder) / name).relative_to(root).as_posix())
    if not found:
        raise ConfigError(
            f"{root} holds no .html or .md file.", hint="Build your site first, or give another folder.", code="no_site"
        )
    return sorted(found)


def read_site(
    root: Path, files: list[str], *, markdown_urls: MarkdownUrls = "html", progress: Callable[[], None] | None = None
) -> Site:
    """Reads ``files`` of ``root``. A file that cannot be read is reported, never an error."""
    site = Site()
    html = {file for file in files if Path(file).suffix.lower() in HTML}
    for file in files:
        page = file if file in html else markdown_page(file, markdown_urls)
        if file not in html and page in html:
            site.skipped.append(Skipped(file, f"its built page {page} is indexed instead"))
        else:
            _read_file(site, root, file, page, is_html=file in html)
        if progress:
            progress()
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
    if document.noindex:
        return 'it says <meta name="robots" content="noindex">'
    if not pieces:
        return "no text was found in it"
    if document.links >= LINK_LIST_MIN_LINKS and document.link_share >= LINK_LIST_SHARE:
        return f"a list of links ({document.links} links hold {document.link_share:.0%} of its text)"
    return ""
