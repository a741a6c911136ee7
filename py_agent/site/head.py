"""What a page says of itself besides its text: title, language, robots, canonical address, redirect, alternates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser

_SITE_SEPARATOR = re.compile(r"\s+[—–|·•»-]\s+")
_SECTION_NUMBER = re.compile(r"^(?:chapter |appendix )?[\dA-Z]{0,3}(?:\.\d+)*\.?\s+", re.IGNORECASE)
_REFRESH = re.compile(r"^\s*([\d.]+)\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+?)[\"']?\s*$", re.IGNORECASE)
# Names under which a page may speak to the crawlers of search engines; an index of the site is one of those.
_ROBOTS = frozenset(("robots", "googlebot", "bingbot"))
#: A redirect that waits longer than this is a page that somebody is meant to read.
MAX_REFRESH_SECONDS = 10.0
#: A shorter heading stands in any title by chance.
MIN_TITLE_CHARS = 3
# What Sphinx writes where a page has no heading.
_NO_TITLES = frozenset(("<no title>", "untitled", "untitled document", "index of /"))


@dataclass
class Head:
    """The head of a page.

    Attributes:
        title: The text of ``<title>``, on one line.
        language: The language tag of ``<html lang>`` or ``<meta http-equiv=content-language>``.
        noindex: In the page's own words, where it asks search engines to leave it out; else empty.
        canonical: The address that the page calls its own, as written.
        redirect: Where a ``<meta http-equiv=refresh>`` leads at once, as written.
        base: ``<base href>``, as written.
        alternates: Addresses of the same page in other languages, by language tag.
    """

    title: str = ""
    language: str = ""
    noindex: str = ""
    canonical: str = ""
    redirect: str = ""
    base: str = ""
    alternates: dict[str, str] = field(default_factory=dict)


def read_head(tree: LexborHTMLParser) -> Head:
    """Reads the head; broken pages have parts of it in the body, so the whole tree is looked at."""
    head = Head()
    element = tree.css_first("html")
    head.language = ((element.attributes.get("lang") if element else "") or "").strip()
    title = tree.css_first("head > title") or tree.css_first("title")
    head.title = " ".join(title.text().split()) if title else ""
    for node in tree.css("meta"):
        # What is for browsers without scripts leads nobody away who could ask: the agent is a script.
        if node.parent is None or node.parent.tag != "noscript":
            _read_meta(head, {name: value or "" for name, value in node.attributes.items()})
    for node in tree.css("link[rel][href]"):
        attributes = node.attributes
        relations = (attributes["rel"] or "").lower().split()
        href = (attributes["href"] or "").strip()
        if "canonical" in relations and not head.canonical:
            head.canonical = href
        elif "alternate" in relations and (language := attributes.get("hreflang")):
            head.alternates[language.lower()] = href
    base = tree.css_first("base[href]")
    head.base = ((base.attributes.get("href") if base else "") or "").strip()
    return head


def _read_meta(head: Head, attributes: dict[str, str]) -> None:
    name, content = attributes.get("name", "").lower(), attributes.get("content", "")
    equivalent = attributes.get("http-equiv", "").lower()
    if name in _ROBOTS and not head.noindex:
        wishes = {wish.strip().lower() for wish in content.split(",")}
        if wishes & {"noindex", "none"}:
            head.noindex = f'<meta name="{name}" content="{content}">'
    elif equivalent == "refresh" and (match := _REFRESH.match(content)):
        if float(match[1].rstrip(".") or 0) <= MAX_REFRESH_SECONDS:
            head.redirect = match[2]
    elif equivalent == "content-language" and not head.language:
        head.language = content.split(",")[0].strip()


@dataclass(frozen=True)
class Titles:
    """The page's own title, the site's name as far as the page tells it, and headings that only name the site."""

    page: str
    site: str
    banners: frozenset[str]


def choose_titles(head_title: str, headings: Sequence[str], marked: Sequence[str] = ()) -> Titles:
    """Tells the page's title from the site's name.

    Args:
        head_title: The text of ``<title>``.
        headings: The page's first-level headings, in order.
        marked: Texts of elements that are marked as the title without being headings.
    """
    parts = [part for part in _SITE_SEPARATOR.split(head_title) if part and part.lower() not in _NO_TITLES]
    site = parts[-1] if len(parts) > 1 else ""
    of_site = {_key(part) for part in parts[1:]}
    own = [one for one in headings if _key(one) not in of_site]
    banners = frozenset(one for one in headings if _key(one) in of_site) if own or parts else frozenset()
    page = parts[0] if parts else ""
    whole = _key(head_title)
    known = next((one for one in [*own, *marked] if len(_key(one)) >= MIN_TITLE_CHARS and _key(one) in whole), "")
    if known:
        return Titles(known, site, banners)
    if len(own) == 1 or (own and not page):
        return Titles(own[0], site, banners)
    # Several headings, none of which the head knows: they name the page's sections.
    return Titles(page or (headings[0] if headings else ""), site, banners)


def _key(text: str) -> str:
    return "".join(_SECTION_NUMBER.sub("", text).casefold().split())
