"""HTML to sections: a tolerant parse tree, its main part, a walker over it, and what the page's head says."""

from __future__ import annotations

from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser

from py_agent.site.content import TOC_MIN_LINKS, Chrome, find_main
from py_agent.site.decode import decode, unclosed
from py_agent.site.document import Document, Section
from py_agent.site.head import choose_titles, read_head
from py_agent.site.tabs import find_tabs
from py_agent.site.walk import Walker

#: A section whose text stands in links for at least this share, and that has at least so many of them, lists what
#: stands elsewhere: it answers nothing and matches everything.
LINK_LIST_SHARE = 0.8
LINK_LIST_SECTION_LINKS = 8
#: A whole page (a general index, split into short sections) is such a list from this share and so many links on.
LINK_LIST_PAGE_SHARE = 0.9
LINK_LIST_PAGE_LINKS = 100
# Where a generator writes the page's title without a heading.
_TITLE_MARKS = ".title, .page-title, .doctitle"


def read_html(data: bytes | str, *, content: Sequence[str] = (), drop: Sequence[str] = ()) -> Document:
    """Reads an HTML page. Broken markup is read as browsers do; what gets lost that way is told in ``problems``.

    Args:
        data: The page.
        content: A site's own CSS selectors of its main part; where none matches, the part is found as on any page.
        drop: CSS selectors of what to leave out besides.
    """
    source, wrong = decode(data) if isinstance(data, bytes) else (data, "")
    document = Document(problems=[*([wrong] if wrong else []), *unclosed(source)])
    tree = LexborHTMLParser(source)
    document.head = read_head(tree)
    document.language = document.head.language
    roots, marked = find_main(tree, content)
    if not roots:
        document.problems.append("it has no body")
        return document
    labels, strips = find_tabs(tree, source)
    dropped = frozenset(node.mem_id for selector in drop for node in tree.css(selector))
    chrome = Chrome(in_body=not marked, dropped=dropped, panels=frozenset(labels))
    walker = Walker(tree, chrome, labels, strips)
    for root in roots:
        walker.walk(root, 0)
        walker.flush()
    sections = walker.sections
    listing = _is_link_list(sections, LINK_LIST_PAGE_LINKS, LINK_LIST_PAGE_SHARE)
    document.sections = [
        one for one in sections if not (listing or _is_link_list([one], LINK_LIST_SECTION_LINKS, LINK_LIST_SHARE))
    ]
    document.link_lists = len(sections) - len(document.sections)
    if not any(section.blocks for section in document.sections):
        # A table of contents is left out as navigation; a page that has nothing else is a list of links.
        document.link_lists += any(len(root.css("a[href]")) >= TOC_MIN_LINKS for root in roots)
    _set_titles(document, tree, walker.first_headings)
    return document


def _is_link_list(sections: list[Section], least: int, share: float) -> bool:
    chars, linked = sum(one.chars for one in sections), sum(one.linked for one in sections)
    return sum(one.links for one in sections) >= least and linked >= share * chars


def _set_titles(document: Document, tree: LexborHTMLParser, headings: list[str]) -> None:
    marks = [" ".join(node.text(deep=False).split()) for node in tree.css(_TITLE_MARKS)]
    titles = choose_titles(document.head.title, headings, marks)
    document.title, document.site_title = titles.page, titles.site
    if not titles.banners:
        return
    for section in document.sections:
        if section.path and section.path[0] in titles.banners:
            section.path = section.path[1:]
            if not section.path:
                section.heading, section.anchor = "", ""
