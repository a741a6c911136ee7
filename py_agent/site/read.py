"""A folder of pages and sources to pages and passages; everything that is left out is told, with its reason."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from py_agent.model.errors import ConfigError
from py_agent.site.address import MarkdownUrls, markdown_page
from py_agent.site.cache import ReadingCache
from py_agent.site.chunk import Piece
from py_agent.site.facets import LANGUAGE, Layout, chosen, useful
from py_agent.site.location import Location, read_location, same_page
from py_agent.site.pool import Job, Outcome, read_all
from py_agent.site.reading import HTML, SOURCES, Reading, suffix_of
from py_agent.site.repeats import collections, dressing, undressed
from py_agent.site.rules import Rules

#: Folders that hold no pages of the site, wherever they lie.
SKIPPED_FOLDERS = frozenset(["node_modules", "__pycache__"])
#: Folders in which generators put what pages are made with: themes, and copies of the sources.
GENERATOR_FOLDERS = frozenset(["_static", "_sources", "_images"])
_NOT_PAGES = re.compile(r"(?:^|/)404\.html?$|(?:^|/)404/index\.html$")
_SEARCH_PAGE = re.compile(r"(?:^|/)search(?:/index)?\.html?$")
#: A page called "search" with no more text than this only holds a field to search in.
MAX_SEARCH_PAGE_CHARS = 400
_FOR_MODELS = re.compile(r"(?:^|/)llms(?:-[a-z]+)?\.(?:md|mdx|html?)$")


@dataclass
class Page:
    """A page to index.

    Attributes:
        page: Its file as it is served, relative to the site's root.
        facets: Its version and language, where the site has several, and what the site's rules say.
        address: Its public address, as ``sitemap.xml`` or the page itself gives it; empty if nothing does.
        modified: Its last change as ``sitemap.xml`` gives it, an ISO date; empty if it does not.
    """

    page: str
    title: str
    site_title: str
    language: str
    pieces: list[Piece]
    facets: dict[str, str] = field(default_factory=dict)
    address: str = ""
    modified: str = ""


@dataclass
class Skipped:
    """A file that is not in the index, or (``lost`` false) is, but not wholly. ``kind`` groups the reasons."""

    file: str
    reason: str
    lost: bool = True
    kind: str = "other"


@dataclass
class Site:
    """What was read.

    Attributes:
        fresh, kept: How many files were read, and how many were unchanged since an earlier build.
        facets: The facets that tell pages apart, with the number of pages of each value.
        trouble: What was wrong besides the files: the cache, rules that match nothing.
    """

    pages: list[Page] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    fresh: int = 0
    kept: int = 0
    facets: dict[str, dict[str, int]] = field(default_factory=dict)
    trouble: list[str] = field(default_factory=list)


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
            if suffix_of(name) in HTML | SOURCES and not name.startswith("."):
                found.append((here / name).relative_to(root).as_posix())
    if not found:
        raise ConfigError(
            f"{root} holds no .html, .md, .mdx or .rst file.",
            hint="Build your site first, or give another folder.",
            code="no_site",
        )
    return sorted(found)


def _is_foreign(folder: Path) -> bool:
    if folder.name in SKIPPED_FOLDERS or folder.name.startswith("."):
        return True
    return (folder / "py-agent.js").is_file()  # the agent, installed beside the pages


def read_site(
    root: Path,
    files: list[str],
    *,
    markdown_urls: MarkdownUrls = "html",
    progress: Callable[[], None] | None = None,
    cache: ReadingCache | None = None,
    rules: Rules | None = None,
    facets: Mapping[str, str] | None = None,
    processes: int = 1,
) -> Site:
    """Reads ``files`` of ``root``. A file that cannot be read is reported, never an error.

    Args:
        root: The site's folder.
        files: What ``find_files`` found.
        markdown_urls: Which pages sources become.
        progress: Called once a file.
        cache: Readings of earlier builds; without it every file is read.
        rules: The site's own rules.
        facets: Values of facets, such as ``{"version": "latest"}``: pages with another value are left out.
        processes: How many processes may read a large site. More than one needs a caller whose main module may be
            imported again, as for every use of ``multiprocessing``.

    Raises:
        ConfigError: ``bad_facet``: the site has no such facet or value.
    """
    site, rules, advance = Site(), rules or Rules(), progress or (lambda: None)
    site.trouble += [f"The rule for {match!r} matches no file." for match in rules.unused(files)]
    pages = _pages_of(site, files, markdown_urls, rules)
    for _ in range(len(files) - len(pages)):
        advance()
    jobs = [Job(file, rules.wishes(file)) for file in pages.values()]
    cache = cache or ReadingCache(None)
    outcomes = {one.file: one for one in read_all(root, jobs, cache=cache, processes=processes, progress=advance)}
    if cache.trouble:
        site.trouble.append(cache.trouble)
    _take(site, root, pages, outcomes, rules)
    _choose(site, facets or {})
    _drop_repeats(site)
    return site


def _pages_of(site: Site, files: list[str], markdown_urls: MarkdownUrls, rules: Rules) -> dict[str, str]:
    """The pages to read, with the file of each."""
    html = {file for file in files if suffix_of(file) in HTML}
    pages: dict[str, str] = {}
    for file in files:
        page = file if file in html else markdown_page(file, markdown_urls)
        if match := rules.skipped(file):
            site.skipped.append(Skipped(file, f"a rule leaves out {match!r}", kind="rule"))
        elif GENERATOR_FOLDERS.intersection(PurePosixPath(file).parts[:-1]):
            site.skipped.append(Skipped(file, "it belongs to the generator, not to the site's pages", kind="generator"))
        elif _NOT_PAGES.search(page):
            site.skipped.append(Skipped(file, "an error page", kind="error-page"))
        elif _FOR_MODELS.search(file):
            site.skipped.append(Skipped(file, "it repeats the site's pages for language models", kind="built"))
        elif file not in html and (built := _built(file, html)):
            site.skipped.append(Skipped(file, f"its built page {built} is indexed instead", kind="built"))
        elif page in pages:
            site.skipped.append(Skipped(file, f"{pages[page]} is the page {page} already", kind="duplicate"))
        else:
            pages[page] = file
    return pages


def _built(file: str, html: set[str]) -> str:
    """The page that was built from a source which lies beside it, whichever way addresses are made."""
    plain = re.sub(r"\.html$", "", str(PurePosixPath(file).with_suffix("")))
    candidates = [markdown_page(file, "html"), markdown_page(file, "directory"), f"{plain}.html", f"{plain}/index.html"]
    return next((one for one in candidates if one in html), "")


def _take(site: Site, root: Path, pages: dict[str, str], outcomes: dict[str, Outcome], rules: Rules) -> None:
    site.kept = sum(one.kept for one in outcomes.values())
    site.fresh = len(outcomes) - site.kept
    readings = {page: outcomes[file].reading for page, file in pages.items()}
    known = {page: reading for page, reading in readings.items() if reading is not None}
    canonicals = [(page, reading.head.canonical) for page, reading in known.items() if reading.head.canonical]
    location = read_location(root, canonicals, pages)
    site.skipped += [Skipped(file, why, lost=False, kind="place") for file, why in location.problems]
    forbidden = {page for page in known if location.forbids(page)}
    if forbidden and len(forbidden) == len(known):
        site.trouble.append("robots.txt forbids every page: it is not heeded, or there would be no index.")
        forbidden = set()
    by_path = {same_page(page): page for page in known}
    layout = Layout({page: reading.language for page, reading in known.items()})
    for page, file in pages.items():
        outcome, reading = outcomes[file], readings[page]
        if reading is None:
            site.skipped.append(Skipped(file, outcome.reason, kind="unreadable"))
            continue
        kind, reason = _why_not(reading, page, by_path, location, page in forbidden)
        if reason:
            site.skipped.append(Skipped(file, "; ".join([reason, *reading.problems]), kind=kind))
            continue
        site.skipped += [Skipped(file, problem, lost=False, kind="damaged") for problem in reading.problems]
        found = {**layout.facets(page, reading.language), **rules.facets(file)}
        address, modified = location.public(page, reading.head.canonical)
        title = reading.title or PurePosixPath(page).stem
        language = reading.language or found.get(LANGUAGE, "")
        site.pages.append(Page(page, title, reading.site_title, language, reading.pieces, found, address, modified))


def _why_not(
    reading: Reading, page: str, by_path: Mapping[str, str], location: Location, forbidden: bool
) -> tuple[str, str]:
    head = reading.head
    if head.redirect and location.locate(head.redirect, page, head.base) != page:
        return "redirect", f"it redirects to {head.redirect}"
    if head.noindex:
        return "noindex", f"it says {head.noindex}"
    if forbidden:
        return "robots", "robots.txt forbids it"
    if head.canonical:
        path = location.locate(head.canonical, page, head.base)
        other = by_path.get(same_page(path)) if path is not None else None
        if other is not None and other != page:
            return "duplicate", f"it names {other} as the page to find, and that is indexed"
    if _SEARCH_PAGE.search(page) and sum(len(piece.text) for piece in reading.pieces) <= MAX_SEARCH_PAGE_CHARS:
        return "search", "it only holds a field to search in"
    if not reading.pieces:
        if reading.link_lists:
            return "links", "it only lists links to other pages"
        return "empty", "no text was found in it"
    return "", ""


def _choose(site: Site, wanted: Mapping[str, str]) -> None:
    """Leaves out the pages of other versions and languages than those asked for; pages that have none stay."""
    known = useful([page.facets for page in site.pages])
    for name, value in wanted.items():
        meant = chosen(name, value, known)
        for page in site.pages:
            if page.facets.get(name, meant) != meant:
                reason = f"its {name} is {page.facets[name]!r}, not {meant!r}"
                site.skipped.append(Skipped(page.page, reason, kind="facet"))
        site.pages = [page for page in site.pages if page.facets.get(name, meant) == meant]
    known = useful([page.facets for page in site.pages])
    site.facets = {name: dict(counted) for name, counted in known.items()}
    for page in site.pages:
        page.facets = {name: value for name, value in page.facets.items() if name in known}


def _drop_repeats(site: Site) -> None:
    layout = Layout({page.page: page.language for page in site.pages})
    bare = [layout.bare(page.page) for page in site.pages]
    repeated = collections([page.pieces for page in site.pages], lambda one, other: bare[one] == bare[other])
    for number, count in repeated.items():
        site.skipped.append(Skipped(site.pages[number].page, f"it repeats {count} other pages", kind="collection"))
    site.pages = [page for number, page in enumerate(site.pages) if number not in repeated]
    if drop := dressing([page.pieces for page in site.pages]):
        for page in site.pages:
            page.pieces = undressed(page.pieces, drop)
        for page in site.pages:
            if not page.pieces:
                site.skipped.append(Skipped(page.page, "it says nothing but what most pages say", kind="empty"))
        site.pages = [page for page in site.pages if page.pieces]
        for text in sorted(drop):
            site.trouble.append(f"Left out, since most pages carry it: {' '.join(text.split())[:100]!r}")
