"""The walker over a parse tree: it keeps what a citation needs, every heading and term with the nearest anchor that
really exists, code with its lines, table rows, list items.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from py_agent.site.content import Attributes, Chrome, is_permalink, names, names_of
from py_agent.site.document import Block, Section
from py_agent.site.inner import (
    INLINE,
    MAX_DEPTH,
    bullet,
    code_lines,
    formula,
    language,
    plain,
    raw,
    stands_apart,
    superscript,
)

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
# Boxes whose title is a word such as "Note": what comes after the box belongs to the heading above it.
_ADMONITIONS = names_of("""
    admonition note tip warning caution important danger info hint attention error callout alert admonitionblock
    custom-block theme-admonition sidebar-box
""")
# A list of fields ("Parameters:", "Return type:") explains what it stands under; its names are no terms of their own.
_FIELDS = "field-list"
# What makes a row of a table more than a line of cells.
_BLOCKS = "h1, h2, h3, h4, h5, h6, pre, dl, table, p, ul, ol, div, blockquote"
#: A cell separator that white-space folding turns into a blank: quotes of a row are found on the page again.
CELL_SEPARATOR = "\t"
#: Terms in a row share one explanation, as long as together they are no longer than this; more is a list, not a term.
MAX_SHARED_TERM_CHARS = 200


class Walker:
    """Reads the elements of one page into ``sections``.

    Args:
        tree: The page.
        chrome: What to leave out.
        labels: Names of the panels of tabs, by the panels' ``mem_id``.
        strips: Lists of those names, by ``mem_id``: they are read with the panels.
    """

    def __init__(
        self, tree: LexborHTMLParser, chrome: Chrome, labels: dict[int, str], strips: frozenset[int] = frozenset()
    ) -> None:
        self._chrome = chrome
        self._labels = labels
        self._strips = strips
        self._boxes = 0
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
        self._fields = False
        self.sections = [Section()]
        self.first_headings: list[str] = []

    # -- text ---------------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Ends the paragraph that is being collected."""
        if not self._inline:
            return
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
        if tag == "math":
            self._text(formula(node))
            return
        attributes = node.attributes
        if self._strips and node.mem_id in self._strips:
            return
        if self._chrome.skips(node, tag, attributes):
            return
        if depth > MAX_DEPTH:
            self._text(node.text(separator=" "))
        elif tag in _HEADINGS:
            self._heading(node, _HEADINGS[tag])
        elif tag == "br":
            self._inline.append("\n")
        elif tag == "pre":
            self._pre(node, depth)
        elif tag == "table" and self._is_data(node, attributes):
            self._table(node, attributes)
        elif tag == "tr" and node.css_first(_BLOCKS) is None:
            self.flush()
            self._row(node, tight=True)
        elif tag == "dl":
            around, self._fields = self._fields, _FIELDS in names(attributes)
            if self._fields:
                self._container(node, tag, attributes, depth)
            else:
                self._definitions(node, depth)
            self._fields = around
        elif tag == "dt" and self._fields:
            self._container(node, tag, attributes, depth)
        elif tag == "dt":
            self._term(node)
        elif tag in INLINE:
            self._inline_element(node, tag, attributes, depth)
        elif tag == "div" and "fragment" in names(attributes) and node.css_first("div.line") is not None:
            self._code(node, gutter="\xa0" if node.css_first("span.lineno") is not None else "")
        else:
            self._container(node, tag, attributes, depth)

    def _inline_element(self, node: LexborNode, tag: str, attributes: Attributes, depth: int) -> None:
        identity = attributes.get("id") or (attributes.get("name") if tag == "a" else "")
        if tag == "sup":
            self._text(superscript(node, "".join(self._inline), self._chrome, depth))
            return
        if tag == "span" and stands_apart(node):
            self._inline.append(" ")
        if tag == "img":
            self._box_icon(node, attributes)
        if tag == "a":
            if is_permalink(node, attributes):
                return
            if attributes.get("href"):
                self.sections[-1].links += 1
                self._link_depth += 1
                self.walk(node, depth + 1)
                self._link_depth -= 1
                return
        if identity and not "".join(self._inline).strip():
            self._pending = identity
        self.walk(node, depth + 1)

    def _box_icon(self, node: LexborNode, attributes: Attributes) -> None:
        """The icon of a box stands for the word that names it."""
        frame = node.parent
        if self._boxes and frame is not None and "icon" in names(frame.attributes) and attributes.get("alt"):
            self._text(attributes["alt"] or "")

    def _container(self, node: LexborNode, tag: str, attributes: Attributes, depth: int) -> None:
        self.flush()
        identity = attributes.get("id") or ""
        box = bool(attributes) and bool(names(attributes) & _ADMONITIONS)
        if tag == "li":
            self._tight, self._bullet = True, bullet(node)
        if label := self._labels.get(node.mem_id):
            self._add(Block(f"{label}:"))
        if identity:
            self._open.append(identity)
        self._boxes += box
        self.walk(node, depth + 1)
        self.flush()
        self._boxes -= box
        if identity and identity in self._open:
            self._open.remove(identity)
        if tag == "li":
            self._bullet, self._tight = "", False

    def _count(self, node: LexborNode, text: str) -> None:
        section, links = self.sections[-1], node.css("a[href]")
        section.chars += len(text)
        section.links += len(links)
        section.linked += sum(len(link.text().strip()) for link in links if not is_permalink(link, link.attributes))

    # -- headings and terms -------------------------------------------------------------------------------------------

    def _heading(self, node: LexborNode, level: int) -> None:
        self.flush()
        text = plain(node, self._chrome)
        if self._boxes and level > 1:
            if text:
                self._add(Block(text))
            return
        anchor = self._anchor(node)
        if not text:
            return
        if level == 1:
            self.first_headings.append(text)
        self._headings = [(above, title) for above, title in self._headings if above < level] + [(level, text)]
        self._terms.clear()
        self.sections.append(Section(text, tuple(title for _, title in self._headings), anchor))

    def _anchor(self, node: LexborNode) -> str:
        candidates = [node.attributes.get("id") or ""]
        for child in node.css("[id], a[name]"):
            candidates.append(child.attributes.get("id") or child.attributes.get("name") or "")
        for link in node.css('a[href^="#"]'):
            if is_permalink(link, link.attributes):
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
        text = plain(node, self._chrome)
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
        self._code(node)

    def _code(self, node: LexborNode, gutter: str = "") -> None:
        """Code; ``gutter`` is what stands between a line and its number, which is left out already."""
        self.flush()
        text = raw(node, self._chrome)
        if gutter:
            text = "\n".join(line.removeprefix(gutter) for line in text.split("\n"))
        lines = code_lines(text.replace("\xa0", " "))
        if lines:
            self.sections[-1].chars += sum(map(len, lines))
            self._add(Block("\n".join(lines), kind="code", language=language(node)))
            self._pending = ""

    def _is_data(self, node: LexborNode, attributes: Attributes) -> bool:
        """Whether a table is one, and not a frame around text."""
        if (attributes.get("role") or "").lower() in ("presentation", "none"):
            return False
        frame = node.parent
        if self._boxes and frame is not None and "admonitionblock" in names(frame.attributes):
            return False
        return node.css_first("h1, h2, h3, h4, h5, h6, pre, dl, table table") is None

    def _table(self, node: LexborNode, attributes: Attributes) -> None:
        self.flush()
        caption = node.css_first("caption")
        if caption is not None and (text := plain(caption, self._chrome)):
            self._add(Block(text))
        if "memname" in names(attributes):
            # A signature that is set as a table so that its parameters stand below one another.
            self._text(plain(node, self._chrome))
            self.flush()
            return
        tight = False
        for row in node.css("tr"):
            if not self._chrome.skips(row, "tr", row.attributes):
                tight = self._row(row, tight=tight) or tight

    def _row(self, row: LexborNode, *, tight: bool) -> bool:
        cells = [
            plain(cell, self._chrome)
            for cell in row.css("th, td")
            if not self._chrome.skips(cell, cell.tag or "", cell.attributes)
        ]
        text = CELL_SEPARATOR.join(cells).strip()
        if text:
            self._count(row, text)
            self._add(Block(text, tight=tight))
        return bool(text)
