"""Files to addresses: which page a file becomes, and how a browser should open it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import quote

MarkdownUrls = Literal["html", "directory"]

# What may stand unescaped in the path and the fragment of an address.
_PATH_SAFE = "/&=+$,;:@!'()*~"
#: Words of a text fragment: enough to be found, few enough that a line break of the page rarely falls between.
TEXT_FRAGMENT_WORDS = 8


def page_url(page: str, *, clean_urls: bool = False) -> str:
    """The address of a page relative to the site's root: ``guide/index.html`` is opened as ``guide/``.

    Args:
        page: The page's file, relative to the root, with forward slashes.
        clean_urls: The host serves ``guide/install.html`` as ``guide/install``.
    """
    path = PurePosixPath(page)
    if path.name in ("index.html", "index.htm"):
        parent = path.parent.as_posix()
        address = "" if parent == "." else f"{parent}/"
    elif clean_urls and path.suffix in (".html", ".htm"):
        address = path.with_suffix("").as_posix()
    else:
        address = page
    quoted = quote(address, safe=_PATH_SAFE)
    # A colon in the first segment would make the rest of the address look like that of a scheme.
    return f"./{quoted}" if ":" in quoted.split("/")[0] else quoted


def with_fragment(url: str, anchor: str, text: str = "") -> str:
    """``url#anchor``; with ``text``, browsers that know text fragments go to the exact words."""
    fragment = quote(anchor, safe="/?:@!$&'()*+,;=~")
    if text:
        words = " ".join(text.split()[:TEXT_FRAGMENT_WORDS])
        # Hyphen, comma and ampersand separate the parts of a text directive.
        fragment += ":~:text=" + quote(words, safe="").replace("-", "%2D")
    return f"{url}#{fragment}" if fragment else url


def markdown_page(file: str, urls: MarkdownUrls) -> str:
    """The page that a generator makes of a Markdown file: ``guide/install.md`` becomes ``guide/install.html``, or
    ``guide/install/index.html`` where pages are directories. ``README.md`` and ``index.md`` are their folder's page."""
    path = PurePosixPath(file)
    if path.stem.lower() in ("index", "readme"):
        return path.with_name("index.html").as_posix()
    if urls == "directory":
        return (path.with_suffix("") / "index.html").as_posix()
    return path.with_suffix(".html").as_posix()
