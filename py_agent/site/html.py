"""HTML to sections: a walker of our own over a tolerant parse tree.

It keeps what a citation needs: every heading and term with the nearest anchor that really exists, code with its lines,
table rows, list items. What it drops is decided in ``content.py``.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from py_agent.site.content import find_main, is_chrome, is_permalink, names_of
from py_agent.site.decode import decode_html, unclosed
from py_agent.site.document import Block, Document, Section

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_INLINE = names_of("""
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span
    strike strong sub sup time tt u var wbr img -text
""")
_LANGUAGE = re.compile(r"(?:language|lang|highlight(?:-source)?|sourceCode)-([A-Za-z0-9+#_-]+)")
_NO_LANGUAGE = frozenset(("default", "none", "text", "plaintext", "plain", "nohighlight", "source"))
_SITE_SEPARATOR = re.compile(r"\s+[—–|·•»-]\s+")
#: A cell separator that white-space folding turns into a blank: quotes of a row are found on the page again.
CELL_SEPARATOR = "\t"
#: A section whose text stands in links for at least this share, and that has at least so many of them, lists what
#: stands elsewhere: it answers nothing and matches everything.
LINK_LIST_SHARE = 0.8
LINK_LIST_SECTION_LINKS = 8
#: A whole page (a general index, split into short sections) is such a list from this share and so many links on.
LINK_LIST_PAGE_SHARE = 0.9
LINK_LIST_PAGE_LINKS = 100
#: Terms in a row share one explanation, as long as together they are no longer than this; more is a list, not a term.
MAX_SHARED_TERM_CHARS = 200
#: Elements nested deeper than this are read as plain text: no real page goes there, and Python's stack is finite.
MAX_DEPTH = 200


def read_html(data: bytes | str) -> Document:
    """Reads an HTML page. Broken markup is read as browsers do; what gets lost that way is told in ``problems``."""
    source = decode_html(data) if isinstance(data, bytes) else data
    document = Document(problems=unclosed(source))
    tree = LexborHTMLParser(source)
    root, marked = find_main(tree)
    if root is None:
        document.problems.append("it has no body")
        return document
    element = tree.css_first("html")
    document.language = ((element.attributes.get("lang") if element else "") or "").strip()
    document.noindex = any(
        "noindex" in (node.attributes.get("content") or "").lower() for node in tree.css('meta[name="robots" i]')
    )
    walker = _Walker(tree, in_body=not marked)
    walker.walk(root, 0)
    walker.flush()
    sections = [section for section in walker.sections if section.blocks]
    listing = _is_link_list(sections, LINK_LIST_PAGE_LINKS, LINK_LIST_PAGE_SHARE)
    document.sections = [
        one for one in sections if not (listing or _is_link_list([one], LINK_LIST_SECTION_LINKS, LINK_LIST_SHARE))
    ]
    document.link_lists = len(sections) - len(document.sections)
    head_title = tree.css_first("head > title") or tree.css_first("title")
    _set_titles(document, walker.first_h1, " ".join(head_title.text().split()) if head_title else "")
    return document


def _is_link_list(sections: list[Section], least: int, share: float) -> bool:
    chars, linked = sum(one.chars for one in sections), sum(one.linked for one in sections)
    return sum(one.links for one in sections) >= least and linked >= share * chars


def _set_titles(document: Document, heading: str, title: str) -> None:
    parts = _SITE_SEPARATOR.split(title)
    document.title = heading or parts[0]
    if len(parts) > 1:
        document.site_title = parts[-1]


class _Walker:
    def __init__(self, tree: LexborHTMLParser, *, in_body: bool) -> None:
        self._in_body = in_body
        self._ids = {
            node.attributes.get("id") or node.attributes.get("name") or "" for node in tree.css("[id], a[name]")
        }
        self._taken: set[str] = set()
        self._inline: list[str] = []
        self._tight = False
        self._bullet = ""
        self._pending = ""
        self._open: list[str] = []  # ids of the containers around, emptied as headings claim them
        self._headings: list[tuple[int, str]] = []
        self._terms: list[Section] = []
        self._link_depth = 0
        self.sections = [Section()]
        self.first_h1 = ""

    # -- text ---------------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Ends the paragraph that is being collected."""
        lines = [" ".join(line.split()) for line in "".join(self._inline).split("\n")]
        text = "\n".join(line for line in lines if line)
        self._inline.clear()
        if text:
            self._add(Block(self._bullet + text, tight=self._tight))
            self._bullet, self._tight, self._pending = "", False, ""

    def _add(self, block: Block) -> None:
        self.sections[-1].blocks.append(block)

    def walk(self, node: LexborNode, depth: int) -> None:
        """Reads the children of ``node``."""
        child = node.first_child
        while child is not None:
            tag = child.tag or ""
            if tag == "-text":
                self._text(child.text_content or "")
            elif tag and not tag.startswith(("-", "!")):
                self._element(child, tag, depth)
            child = child.next

    def _text(self, text: str) -> None:
        self._inline.append(text.replace("\n", " "))
        size = len(text.strip())
        section = self.sections[-1]
        section.chars += size
        if self._link_depth:
            section.linked += size

    def _element(self, node: LexborNode, tag: str, depth: int) -> None:
        if is_chrome(node, in_body=self._in_body):
            return
        if depth > MAX_DEPTH:
            self._text(node.text(separator=" "))
        elif tag in _HEADINGS:
            self._heading(node, _HEADINGS[tag])
        elif tag == "br":
            self._inline.append("\n")
        elif tag == "pre":
            self._pre(node, depth)
        elif tag == "table" and node.css_first("h1, h2, h3, h4, h5, h6, pre, dl, table table") is None:
            self._table(node)
        elif tag == "dl":
            self._definitions(node, depth)
        elif tag == "dt":
            self._term(node)
        elif tag in _INLINE:
            self._inline_element(node, tag, depth)
        else:
            self._container(node, tag, depth)

    def _inline_element(self, node: LexborNode, tag: str, depth: int) -> None:
        identity = node.attributes.get("id") or (node.attributes.get("name") if tag == "a" else "")
        if tag == "a":
            if is_permalink(node):
                return
            if node.attributes.get("href"):
                self.sections[-1].links += 1
                self._link_depth += 1
                self.walk(node, depth + 1)
                self._link_depth -= 1
                return
        if identity and not "".join(self._inline).strip():
            self._pending = identity
        self.walk(node, depth + 1)

    def _container(self, node: LexborNode, tag: str, depth: int) -> None:
        self.flush()
        identity = node.attributes.get("id") or ""
        if tag == "li":
            self._tight, self._bullet = True, _bullet(node)
        if identity:
            self._open.append(identity)
        self.walk(node, depth + 1)
        self.flush()
        if identity and identity in self._open:
            self._open.remove(identity)
        if tag == "li":
            self._bullet, self._tight = "", False

    def _count(self, node: LexborNode, text: str) -> None:
        section, links = self.sections[-1], node.css("a[href]")
        section.chars += len(text)
        section.links += len(links)
        section.linked += sum(len(link.text().strip()) for link in links if not is_permalink(link))

    # -- headings and terms -------------------------------------------------------------------------------------------

    def _heading(self, node: LexborNode, level: int) -> None:
        self.flush()
        text = _plain(node, self._in_body)
        anchor = self._anchor(node)
        if not text:
            return
        if level == 1 and not self.first_h1:
            self.first_h1 = text
        self._headings = [(above, title) for above, title in self._headings if above < level] + [(level, text)]
        self._terms.clear()
        self.sections.append(Section(text, tuple(title for _, title in self._headings), anchor))

    def _anchor(self, node: LexborNode) -> str:
        candidates = [node.attributes.get("id") or ""]
        for child in node.css("[id], a[name]"):
            candidates.append(child.attributes.get("id") or child.attributes.get("name") or "")
        for link in node.css('a[href^="#"]'):
            if is_permalink(link):
                candidates.insert(1, (link.attributes.get("href") or "")[1:])
        candidates += [self._pending, *reversed(self._open)]
        if node.tag != "dt":
            self._open.clear()
        self._pending = ""
        for candidate in candidates:
            if candidate and candidate in self._ids and candidate not in self._taken:
                self._taken.add(candidate)
                return candidate
        return ""

    def _definitions(self, node: LexborNode, depth: int) -> None:
        self.flush()
        around = self.sections[-1]
        outer = len(self._terms)
        self._terms.append(around)
        kept = self._open
        self._open = []  # an id around the list belongs to no term of it
        self.walk(node, depth + 1)
        self.flush()
        self._open = kept
        if len(self._terms) <= outer:
            return  # a heading inside the list has ended it
        del self._terms[outer:]
        if self.sections[-1] is not around:
            self.sections.append(Section(around.heading, around.path, around.anchor, around.soft, around.depth))

    def _term(self, node: LexborNode) -> None:
        self.flush()
        text = _plain(node, self._in_body)
        anchor = self._anchor(node)
        if not text:
            return
        above = self._terms[-1] if self._terms else Section()
        last = self.sections[-1]
        if (
            last.depth == len(self._terms)
            and last is not above
            and len(last.blocks) == 1
            and last.blocks[0].text == last.heading
            and len(last.heading) + len(text) <= MAX_SHARED_TERM_CHARS
        ):
            # Two terms in a row share one explanation; the first one's anchor leads to it.
            last.heading = f"{last.heading}, {text}"
            last.path = (*last.path[:-1], last.heading)
            last.blocks = [Block(last.heading)]
            self._count(node, text)
            return
        section = Section(text, (*above.path, text), anchor or above.anchor, not anchor, len(self._terms))
        section.blocks.append(Block(text))
        self.sections.append(section)
        self._count(node, text)

    # -- code and tables ----------------------------------------------------------------------------------------------

    def _pre(self, node: LexborNode, depth: int) -> None:
        self.flush()
        if node.css_first("h1, h2, h3, h4, h5, h6, p, table") is not None:
            # A <pre> that was never closed has swallowed the page: read its parts as what they are.
            self.walk(node, depth + 1)
            self.flush()
            return
        lines = [line.rstrip() for line in _raw(node).replace("\r\n", "\n").split("\n")]
        while lines and not lines[0]:
            lines.pop(0)
        while lines and not lines[-1]:
            lines.pop()
        if lines:
            self.sections[-1].chars += sum(map(len, lines))
            self._add(Block("\n".join(lines), kind="code", language=_language(node)))
            self._pending = ""

    def _table(self, node: LexborNode) -> None:
        self.flush()
        caption = node.css_first("caption")
        if caption is not None and (text := _plain(caption, self._in_body)):
            self._add(Block(text))
        tight = False
        for row in node.css("tr"):
            if is_chrome(row, in_body=self._in_body):
                continue
            cells = [
                _plain(cell, self._in_body) for cell in row.css("th, td") if not is_chrome(cell, in_body=self._in_body)
            ]
            if text := CELL_SEPARATOR.join(cells).strip():
                self._count(row, text)
                self._add(Block(text, tight=tight))
                tight = True


def _plain(node: LexborNode, in_body: bool, depth: int = 0) -> str:
    """The text of an element on one line, without permalinks and hidden parts."""
    return " ".join("".join(_pieces(node, in_body, depth)).split())


def _pieces(node: LexborNode, in_body: bool, depth: int) -> list[str]:
    found: list[str] = []
    child = node.first_child
    while child is not None:
        tag = child.tag or ""
        if tag == "-text":
            found.append(child.text_content or "")
        elif tag and not tag.startswith(("-", "!")) and not is_chrome(child, in_body=in_body):
            if depth > MAX_DEPTH:
                found.append(child.text(separator=" "))
            elif not (tag == "a" and is_permalink(child)):
                found.extend(_pieces(child, in_body, depth + 1))
            if tag not in _INLINE:
                found.append(" ")
        child = child.next
    return found


def _raw(node: LexborNode, depth: int = 0) -> str:
    """The text of an element with its lines."""
    found: list[str] = []
    child = node.first_child
    while child is not None:
        tag = child.tag or ""
        if tag == "-text":
            found.append(child.text_content or "")
        elif tag == "br":
            found.append("\n")
        elif tag and not tag.startswith(("-", "!")) and not is_chrome(child, in_body=False):
            found.append(child.text() if depth > MAX_DEPTH else _raw(child, depth + 1))
        child = child.next
    return "".join(found)


def _language(node: LexborNode) -> str:
    code = node.css_first("code")
    around: list[LexborNode | None] = [code, node, node.parent, node.parent.parent if node.parent else None]
    for element in around:
        match = _LANGUAGE.search(element.attributes.get("class") or "") if element is not None else None
        if match:
            return "" if match[1].lower() in _NO_LANGUAGE else match[1].lower()
    return ""


def _bullet(node: LexborNode) -> str:
    parent = node.parent
    if parent is None or parent.tag != "ol":
        return "- "
    number, before = 1, node.prev
    while before is not None:
        number += before.tag == "li"
        before = before.prev
    return f"{number}. "
