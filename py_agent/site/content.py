"""What of a page is content and what is chrome: by what the markup says, then by names that many generators share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

Attributes = Mapping[str, str | None]


def names_of(text: str) -> frozenset[str]:
    """The words of ``text``: a readable way to write a long set of names."""
    return frozenset(text.split())


#: Elements whose text no reader sees, or that are controls.
SKIPPED_TAGS = names_of("""
    script style template noscript svg iframe object embed audio video canvas button input select textarea dialog
    head nav datalist progress meter map
""")
#: Attributes by which a page keeps a part of itself out of searches.
IGNORED_ATTRIBUTES = names_of("""
    data-pagefind-ignore data-nosnippet data-search-exclude data-noindex data-docsearch-ignore data-swiftype-index
""")
_TELLING = IGNORED_ATTRIBUTES | {"hidden", "aria-hidden", "style", "role"}
_HEADINGS = names_of("h1 h2 h3 h4 h5 h6")
_SKIPPED_ROLES = names_of("""
    navigation search banner contentinfo dialog alertdialog menu menubar toolbar tablist button
""")
# Names that generators share for parts around the text; compared with whole class names and ids.
_SKIPPED_NAMES = names_of("""
    toc tableofcontents table-of-contents local-toc page-toc toc-tree toc-drawer toc-title-container
    theme-doc-toc-mobile theme-doc-toc-desktop td-toc vpdocasideoutline on-this-page
    breadcrumb breadcrumbs wy-breadcrumbs theme-doc-breadcrumbs navpath nav-path md-path
    pagination pager prev-next prev-next-area pagination-nav rst-footer-buttons related-pages page-nav vpdocfooter
    docs-navigation-links
    skip-link skip-to-content skip-nav back-to-top content-icon-container
    headerlink linenos linenodiv linenumbers line-numbers-rows line-numbers-wrapper lineno gutter lnt ln
    copybtn copy-button clipboard copybutton
    edit-this-page edit-link theme-edit-this-page edit-page-link md-content__button view-this-page
    page-meta td-page-meta md-source-file md-feedback feedback theme-doc-footer last-updated theme-doc-version-badge
    sphinxsidebar navbar navheader navfooter wy-nav-side rst-versions md-sidebar
    msearchbox msearchselectwindow msearchresultswindow titlearea side-nav nav-tree ttc footnote-backref
    viewcode-link viewcode-back nosearch robots-nocontent notranslate-ui
""")
# Only outside a marked main part: inside it these names are used for content too.
_SKIPPED_NAMES_IN_BODY = names_of("""
    sidebar footer site-footer site-header page-footer menu navigation nav global-nav related searchbox
""")
#: Banners about cookies and consent, whatever their names end in.
_BANNER = re.compile(r"\b(?:cookie[-_]?(?:banner|consent|notice|bar|law|popup|dialog)|(?:md-)?consent\b|gdpr|onetrust)")
# Where names are hashed (CSS modules): codeLineNumber_Tfdd.
_HASHED = re.compile(r"^(codelinenumber|tocmobile|toccollapsible|docbreadcrumbs|lastupdated)[\w-]*?_[\w-]{4,}$")
_PERMALINK_NAMES = names_of("""
    headerlink anchor permalink hash-link heading-anchor header-anchor anchorjs-link mark td-heading-self-link
    heading-link headline-hash
""")
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
#: A marked main part with less than this share of the body's text is a shell (an empty frame for scripts).
MIN_MAIN_SHARE = 0.05
#: A list whose text stands in links into its own page for more than this share is a table of contents.
TOC_LINK_SHARE = 0.8
#: ... if it has at least this many links.
TOC_MIN_LINKS = 3
#: What stands above a table of contents; a list that any other words introduce belongs to them.
_TOC_LABEL = re.compile(
    r"(?:(?:table of |page )?contents|on this page|(?:in|on) this (?:article|page|section|chapter|document|guide)"
    r"|this (?:article|page|section|chapter|document|guide) (?:covers|contains|describes)|jump to|go to|skip to"
    r"|quick links|see also)\b",
    re.IGNORECASE,
)
#: A permalink's own text: a pilcrow, a chain, "#", or the word "link"; more is a link to read.
PERMALINK_CHARS = 4


def names(attributes: Attributes) -> set[str]:
    """The class names and the id of an element, in lower case."""
    found = (attributes.get("class") or "").lower().split()
    if identity := attributes.get("id"):
        found.append(identity.lower())
    return set(found)


def is_hidden(attributes: Attributes) -> bool:
    """Whether an element is hidden from readers by its own attributes."""
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    if (attributes.get("aria-hidden") or "").lower() == "true":
        return True
    style = attributes.get("style")
    return bool(style and _HIDDEN_STYLE.search(style))


def is_permalink(node: LexborNode, attributes: Attributes) -> bool:
    """Whether a link is a heading's own pilcrow or chain sign."""
    href = attributes.get("href") or ""
    if "#" not in href:
        return False
    text = node.text().strip()
    if not any(char.isalnum() for char in text):
        return len(text) <= 2
    return len(text) <= PERMALINK_CHARS and href.startswith("#") and bool(names(attributes) & _PERMALINK_NAMES)


class Chrome:
    """Judges the elements of one page.

    Args:
        in_body: The page marks no main part, so the whole body is being read and stricter rules apply.
        dropped: Elements that a site's own rules leave out, by ``mem_id``.
        panels: Panels of tabs, by ``mem_id``: they are content even while another tab hides them.
    """

    def __init__(
        self, *, in_body: bool = False, dropped: frozenset[int] = frozenset(), panels: frozenset[int] = frozenset()
    ) -> None:
        self._in_body = in_body
        self._dropped = dropped
        self._panels = panels

    def skips(self, node: LexborNode, tag: str, attributes: Attributes) -> bool:
        """Whether an element is navigation, a control, hidden, or other dressing."""
        if tag in SKIPPED_TAGS:
            return True
        if self._dropped and node.mem_id in self._dropped:
            return True
        if not attributes:
            return self._by_tag(node, tag, False)
        if self._panels and node.mem_id in self._panels:
            return False
        if not _TELLING.isdisjoint(attributes) and _is_told(tag, attributes):
            return True
        dressing, in_body, badge = _judged(attributes.get("class") or "")
        if identity := attributes.get("id"):
            also_dressing, also_in_body, _ = _judge(identity)
            dressing, in_body = dressing or also_dressing, in_body or also_in_body
        if dressing:
            return tag not in ("html", "body", "main", "article") and node.css_first("h1") is None
        if badge and tag == "span" and node.next is not None:
            return _labels_code(node)
        return self._by_tag(node, tag, in_body)

    def _by_tag(self, node: LexborNode, tag: str, named: bool) -> bool:
        if tag == "footer":
            return True
        if self._in_body and (named or tag in ("aside", "header")):
            return node.css_first("h1") is None
        return tag in ("ul", "ol") and _is_page_toc(node)


def _is_told(tag: str, attributes: Attributes) -> bool:
    """Whether attributes say that the element is hidden, kept out of searches, or a control."""
    if is_hidden(attributes) or not IGNORED_ATTRIBUTES.isdisjoint(attributes):
        return True
    return (attributes.get("role") or "").lower() in _SKIPPED_ROLES and tag not in _HEADINGS


def _judge(text: str) -> tuple[bool, bool, bool]:
    """What names say: dressing anywhere, dressing outside of a marked main part, and a badge that may name code."""
    found = set(text.lower().split())
    dressing = (
        not _SKIPPED_NAMES.isdisjoint(found)
        or any(_is_part(name) for name in found if "_" in name or "--" in name)
        or bool(_BANNER.search(text.lower()))
    )
    return dressing, not _SKIPPED_NAMES_IN_BODY.isdisjoint(found), "lang" in found


#: A site has few class attributes and writes them on every page: each is judged once.
_judged = lru_cache(maxsize=8_192)(_judge)


def _is_part(name: str) -> bool:
    """Whether a name is that of a part of some dressing: ``page-meta__lastmod``, or a hashed one."""
    return re.split("__|--", name, maxsplit=1)[0] in _SKIPPED_NAMES or bool(_HASHED.match(name))


def _labels_code(node: LexborNode) -> bool:
    """A label such as "sh" that stands on a code block as a badge."""
    after = node.next
    while after is not None and after.tag == "-text":
        after = after.next
    return after is not None and after.tag == "pre"


def _is_page_toc(node: LexborNode) -> bool:
    first = node.css_first("a[href]")
    if first is None or not (first.attributes.get("href") or "").startswith("#"):
        return False
    if _is_introduced(node):
        return False
    links = node.css("a[href]")
    if len(links) < TOC_MIN_LINKS or any(not (link.attributes.get("href") or "").startswith("#") for link in links):
        return False
    linked = sum(len(link.text().strip()) for link in links)
    return linked >= TOC_LINK_SHARE * len("".join(node.text().split(" ")).strip() or " ")


def _is_introduced(node: LexborNode) -> bool:
    """Whether the text before a list ends in a colon and says more than that the list is a table of contents."""
    before = node.prev
    while before is not None and (before.tag == "-comment" or not before.text().strip()):
        before = before.prev
    if before is None or before.tag not in ("p", "-text", "div", "dt", "em", "strong", "b"):
        return False
    text = " ".join(before.text().split())
    return text.endswith((":", "：")) and " " in text and not _TOC_LABEL.match(text)


def find_main(tree: LexborHTMLParser, selectors: Sequence[str] = ()) -> tuple[list[LexborNode], bool]:
    """The elements that hold the content, and whether they are marked as such (else it is the body).

    Args:
        tree: The page.
        selectors: A site's own rule for its main part; the whole page where nothing of it is found.
    """
    body = tree.body
    if body is None:
        return [], False
    for selector in [*selectors, "[data-pagefind-body]"]:
        if marked := _outermost(tree.css(selector)):
            return marked, True
    whole = len(body.text())
    for selector in ("main", "[role=main]", "[itemprop=articleBody]", "article"):
        found = [node for node in tree.css(selector) if not is_hidden(node.attributes)]
        if selector == "article" and len(found) > 1:
            continue
        if found:
            best = max(found, key=lambda node: len(node.text()))
            if len(best.text().strip()) >= MIN_MAIN_SHARE * whole:
                return [best], True
    return [body], False


def _outermost(nodes: Sequence[LexborNode]) -> list[LexborNode]:
    known = {node.mem_id for node in nodes}
    kept = []
    for node in nodes:
        above = node.parent
        while above is not None and above.mem_id not in known:
            above = above.parent
        if above is None:
            kept.append(node)
    return kept
