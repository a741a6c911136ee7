"""What of a page is content and what is chrome, without knowing any generator by name."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode


def names_of(text: str) -> frozenset[str]:
    """The words of ``text``: a readable way to write a long set of names."""
    return frozenset(text.split())


#: Elements whose text no reader sees, or that are controls.
SKIPPED_TAGS = names_of("""
    script style template noscript svg math iframe object embed audio video canvas button input select textarea dialog
    head nav datalist progress meter map
""")
_SKIPPED_ROLES = names_of("""
    navigation search banner contentinfo dialog alertdialog menu menubar toolbar tablist button
""")
# Names that generators share for parts around the text; compared with whole class names and ids.
_SKIPPED_NAMES = names_of("""
    toc tableofcontents table-of-contents local-toc page-toc breadcrumb breadcrumbs pagination
    pager prev-next skip-link skip-to-content skip-nav headerlink linenos linenodiv linenumbers line-numbers-rows
    lineno gutter copybtn copy-button clipboard edit-this-page edit-link sphinxsidebar navbar navheader navfooter
    nosearch
""")
# Only outside a marked main part: inside it these names are used for content too.
_SKIPPED_NAMES_IN_BODY = names_of("""
    sidebar footer site-footer site-header page-footer menu navigation nav cookie-banner cookie-consent related
""")
_PERMALINK_NAMES = frozenset(
    ["headerlink", "anchor", "permalink", "hash-link", "heading-anchor", "header-anchor", "anchorjs-link", "mark"]
)
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
#: A marked main part with less than this share of the body's text is a shell (an empty frame for scripts).
MIN_MAIN_SHARE = 0.05
#: A list whose text stands in links into its own page for more than this share is a table of contents.
TOC_LINK_SHARE = 0.8
#: ... if it has at least this many links.
TOC_MIN_LINKS = 3


def names(node: LexborNode) -> set[str]:
    """The class names and the id of an element, in lower case."""
    attributes = node.attributes
    found = (attributes.get("class") or "").lower().split()
    if identity := attributes.get("id"):
        found.append(identity.lower())
    return set(found)


def is_hidden(node: LexborNode) -> bool:
    """Whether the element is hidden from readers by its own attributes."""
    attributes = node.attributes
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    if (attributes.get("aria-hidden") or "").lower() == "true":
        return True
    return bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))


def is_permalink(node: LexborNode) -> bool:
    """Whether a link is a heading's own pilcrow or chain sign."""
    href = node.attributes.get("href") or ""
    if "#" not in href:
        return False
    text = node.text().strip()
    if not any(char.isalnum() for char in text):
        return len(text) <= 2
    return len(text) <= 4 and href.startswith("#") and bool(names(node) & _PERMALINK_NAMES)


def is_chrome(node: LexborNode, *, in_body: bool) -> bool:
    """Whether an element is navigation, a control, hidden, or other dressing.

    Args:
        node: The element.
        in_body: The page marks no main part, so the whole body is being read and stricter rules apply.
    """
    tag = node.tag or ""
    if tag in SKIPPED_TAGS or is_hidden(node):
        return True
    attributes = node.attributes
    if not attributes and tag not in ("footer", "header", "aside", "ul", "ol"):
        return False
    if (attributes.get("role") or "").lower() in _SKIPPED_ROLES:
        return True
    found = names(node)
    if found & _SKIPPED_NAMES:
        return tag not in ("body", "main", "article") and node.css_first("h1") is None
    if tag == "footer":
        return True
    if in_body:
        if tag == "aside" or found & _SKIPPED_NAMES_IN_BODY:
            return node.css_first("h1") is None
        if tag == "header":
            return node.css_first("h1") is None
    return tag in ("ul", "ol") and _is_page_toc(node)


def _is_page_toc(node: LexborNode) -> bool:
    links = node.css("a[href]")
    if len(links) < TOC_MIN_LINKS or any(not (link.attributes.get("href") or "").startswith("#") for link in links):
        return False
    linked = sum(len(link.text().strip()) for link in links)
    return linked >= TOC_LINK_SHARE * len("".join(node.text().split(" ")).strip() or " ")


def find_main(tree: LexborHTMLParser) -> tuple[LexborNode | None, bool]:
    """The element that holds the content, and whether it is marked as such (else it is the body)."""
    body = tree.body
    if body is None:
        return None, False
    whole = len(body.text())
    for selector in ("main", "[role=main]", "article"):
        found = [node for node in tree.css(selector) if not is_hidden(node)]
        if selector == "article" and len(found) > 1:
            continue
        if found:
            best = max(found, key=lambda node: len(node.text()))
            if len(best.text().strip()) >= MIN_MAIN_SHARE * whole:
                return best, True
    return body, False
