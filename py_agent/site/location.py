"""Where the site will stand: its public address, what robots.txt forbids, what sitemap.xml says of its pages."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.robotparser import RobotFileParser
from xml.etree import ElementTree

from py_agent.site.address import page_url
from py_agent.site.decode import decode_html

#: A sitemap of more bytes than the standard allows (50 MB) is not one.
MAX_SITEMAP_BYTES = 50_000_000
_INDEX = re.compile(r"(?:^|/)index\.html?$")


def same_page(path: str) -> str:
    """What a page's path is compared by: ``index.html``, ``.html`` and the last slash make no difference."""
    path = _INDEX.sub("/", unquote(path.partition("#")[0].partition("?")[0]))
    return re.sub(r"\.html?$", "", path).strip("/")


@dataclass
class Location:
    """What the folder tells of where the site stands.

    Attributes:
        base: The site's public address with a slash at its end; empty if nothing tells it.
        listed: What ``sitemap.xml`` says, by ``same_page`` of the path below ``base``: address and last change.
        problems: Files that could not be used, and why.
    """

    base: str = ""
    listed: dict[str, tuple[str, str]] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    robots: RobotFileParser | None = None

    def locate(self, href: str, page: str, base_href: str = "") -> str | None:
        """The path below the site's root that ``href`` means on ``page``, or None if it leads elsewhere.

        Args:
            href: As written on the page.
            page: The page's file.
            base_href: The page's ``<base href>``; one that is no address counts for nothing.
        """
        root = self.base or "https://site.invalid/"
        here = urljoin(root, page_url(page))
        if base_href and urlsplit(urljoin(here, base_href)).scheme in ("http", "https", "file"):
            here = urljoin(here, base_href)
        target = urlsplit(urljoin(here, href))
        want = urlsplit(root)
        if target.netloc.lower() != want.netloc.lower() or not f"{target.path}/".startswith(want.path):
            return None
        return target.path[len(want.path) :]

    def public(self, page: str, canonical: str) -> tuple[str, str]:
        """The page's public address, and when it last changed; each empty if nothing tells it.

        Args:
            page: The page's file.
            canonical: What the page calls its own address. One of another page, such as the same one of a newer
                version, is not where this page's words are.
        """
        address, modified = self.listed.get(same_page(page), ("", ""))
        own = self.locate(canonical, page) if not address and canonical and self.base else None
        if own is not None and same_page(own) == same_page(page):
            address = urljoin(urljoin(self.base, page_url(page)), canonical)
        return (address if urlsplit(address).scheme in ("http", "https") else ""), modified

    def forbids(self, page: str) -> bool:
        """Whether robots.txt keeps every crawler from the page."""
        root = urlsplit(self.base).path or "/"
        return self.robots is not None and not self.robots.can_fetch("*", root + page_url(page))


def find_base(canonicals: Iterable[tuple[str, str]]) -> str:
    """The public address of the site, as most of ``(file, canonical address)`` agree on; empty if they do not."""
    votes: Counter[str] = Counter()
    for file, address in canonicals:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https", "file"):
            continue
        own, path = same_page(file), parts.path
        key = same_page(path)
        if key == own or key.endswith(f"/{own}") or not own:
            root = key[: len(key) - len(own)].strip("/") if own else key
            votes[f"{parts.scheme}://{parts.netloc}/{root + '/' if root else ''}"] += 1
    if not votes:
        return ""
    best, count = votes.most_common(1)[0]
    return best if count * 2 > votes.total() else ""


def read_location(root: Path, canonicals: Iterable[tuple[str, str]], files: Iterable[str]) -> Location:
    """Reads ``robots.txt`` and ``sitemap.xml`` in ``root`` and finds the site's address.

    Args:
        root: The site's folder.
        canonicals: The pages' files and what they call their own address.
        files: All pages' files.
    """
    place = Location(find_base(canonicals))
    robots = root / "robots.txt"
    if robots.is_file():
        parser = RobotFileParser()
        parser.parse(decode_html(robots.read_bytes()).splitlines())
        place.robots = parser
    entries = _sitemap(root, "sitemap.xml", place, set())
    if not place.base:
        place.base = _base_of(entries, files)
    for address, modified in entries:
        path = place.locate(address, "")
        if path is not None:
            place.listed[same_page(path)] = (address, modified)
    return place


def _base_of(entries: list[tuple[str, str]], files: Iterable[str]) -> str:
    """The longest address that all entries begin with and below which most of them are files."""
    known = {same_page(file) for file in files}
    if not entries:
        return ""
    paths = [urlsplit(address) for address, _ in entries]
    start = f"{paths[0].scheme}://{paths[0].netloc}"
    segments = paths[0].path.split("/")
    best, hits = "", 0
    for depth in range(1, len(segments) + 1):
        root = "/".join(segments[:depth]).rstrip("/") + "/"
        found = sum(one.path.startswith(root) and same_page(one.path[len(root) :]) in known for one in paths)
        if found > hits:
            best, hits = start + root, found
    return best if hits * 2 >= len(paths) else ""


def _sitemap(root: Path, name: str, place: Location, seen: set[str]) -> list[tuple[str, str]]:
    file = root / name
    if name in seen or not file.is_file():
        return []
    seen.add(name)
    try:
        data = file.read_bytes()
        data = gzip.decompress(data) if name.endswith(".gz") else data
        if len(data) > MAX_SITEMAP_BYTES or b"<!ENTITY" in data:
            raise ValueError("it is too large, or declares entities")
        tree = ElementTree.fromstring(data)  # noqa: S314 - no entities in it, and of a bounded size
    except (OSError, EOFError, ValueError, ElementTree.ParseError) as error:
        place.problems.append((name, f"cannot be used: {error}"))
        return []
    found: list[tuple[str, str]] = []
    for entry in tree:
        texts = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in entry}
        address = texts.get("loc", "")
        if entry.tag.endswith("sitemap"):
            found += _sitemap(root, urlsplit(address).path.rpartition("/")[2], place, seen)
        elif address:
            found.append((address, texts.get("lastmod", "")))
    return found
