"""What generators add to Markdown, turned into HTML that every reader of pages knows: boxes, tabs, MDX, shortcodes.

Works line by line and leaves fenced code alone. Nothing is run: of an import, an export or a component only the text
between the tags stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})(.*)$")
_FENCE_NAME = re.compile(r"""(?:title|filename|name)=["']([^"']+)["']|\s\[([^\[\]]+)\]\s*$""")
_CONTAINER = re.compile(r"^(\s*)(:{3,})\s*(?:\{?\.?([A-Za-z][\w-]*)\}?)?\s*(?:\[(.*?)\])?\s*(.*?)\s*$")
_ADMONITION = re.compile(r"""^(\s*)(!!!|\?\?\?\+?)\s+([\w-]+)(?:\s+(?:[\w-]+\s+)*)?(?:"(.*)")?\s*$""")
_TAB = re.compile(r'^(\s*)===[!+]?\s+"(.*)"\s*$')
_ALERT = re.compile(r"^(\s*>\s*)\[!([A-Z]+)\][+-]?\s*(.*)$")
_SHORTCODE = re.compile(r"\{\{[<%]\s*(/?)\s*([\w./-]+)(.*?)/?\s*[>%]\}\}")
_SHORTCODE_WORD = re.compile(r"""(?:title|name|header|label|tabName)\s*=\s*["']([^"']*)["']|^\s*["']([^"']*)["']""")
_MODULE = re.compile(
    r"^(?:import\s.+\sfrom\s+['\"].+|import\s+['\"].+|export\s+(?:const|let|default|function|async)\b.*)$"
)
_INLINE_CODE = re.compile(r"(`+[^`\n](?:[^`]|\n(?!\s*\n))*?`+)")
_TAB_ITEM = re.compile(r"<(?:TabItem|Tab|TabPanel)\b([^>]*)>")
_TAB_LABEL = re.compile(r"""(?:label|title|value)=\{?["'`]([^"'`]*)["'`]""")
_TAG = re.compile(r"</?[A-Z][\w.]*(?=[\s/>{])")
_BRACED_COMMENT = re.compile(r"\{/\*.*?\*/\}", re.DOTALL)
_BRACED_TEXT = re.compile(r"\{\s*(?:`([^`{}]*)`|'([^'{}]*)'|\"([^\"{}]*)\")\s*\}")
#: A tag with more between its brackets is a slip: the text after it is not worth losing.
MAX_TAG_CHARS = 4_000
#: Indentation that a body of ``!!!`` or ``===`` has: four blanks, as Python-Markdown demands.
BODY_INDENT = 4


def plain_markup(source: str, *, mdx: bool = False) -> str:
    """CommonMark with HTML for a source with the additions of Docusaurus, VitePress, MkDocs, Hugo, GitHub and MDX."""
    if mdx:
        source = _without_components(source)
    return "\n".join(_lines(source.replace("\r\n", "\n").split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    open_boxes: list[int] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        if fence := _FENCE.match(line):
            end = _fence_end(lines, index, fence[2])
            if name := _FENCE_NAME.search(fence[3]):
                yield from ("", f"{fence[1]}{name[1] or name[2]}:", "")
            yield from lines[index:end]
            index = end
            continue
        index += 1
        if match := _ADMONITION.match(line):
            body, index = _indented(lines, index, len(match[1]))
            yield from _box(match[3], match[4] if match[4] is not None else match[3].capitalize(), body)
        elif match := _TAB.match(line):
            body, index = _indented(lines, index, len(match[1]))
            yield from _panel(match[2], body)
        elif (match := _CONTAINER.match(line)) and (match[3] or open_boxes):
            if match[3]:
                open_boxes.append(len(match[2]))
                title = match[4] or match[5] or _container_title(match[3])
                yield from ("", f'<div class="admonition {escape(match[3])}">', *_title(title), "")
            else:
                open_boxes.pop()
                yield from ("", "</div>", "")
        elif match := _ALERT.match(line):
            yield f"{match[1]}**{match[3] or match[2].capitalize()}**"
            yield match[1].rstrip()
        else:
            yield _SHORTCODE.sub(_shortcode, line)
    for _ in open_boxes:
        yield from ("", "</div>")


def _container_title(kind: str) -> str:
    return "" if kind.lower() in ("code-group", "tabs", "tab", "raw", "div", "columns", "grid") else kind.capitalize()


def _fence_end(lines: list[str], start: int, mark: str) -> int:
    for index in range(start + 1, len(lines)):
        stripped = lines[index].strip()
        if stripped.startswith(mark) and not stripped.strip(mark[0]):
            return index + 1
    return len(lines)


def _indented(lines: list[str], start: int, indent: int) -> tuple[list[str], int]:
    """The lines that stand deeper than ``indent`` by one step, without that step, and where they end."""
    body: list[str] = []
    index = start
    step = indent + BODY_INDENT
    while index < len(lines):
        line = lines[index].expandtabs(BODY_INDENT)
        if line.strip() and not line.startswith(" " * step):
            break
        body.append(line[step:])
        index += 1
    while body and not body[-1].strip():
        body.pop()
        index -= 1
    return body, index


def _box(kind: str, title: str, body: list[str]) -> Iterator[str]:
    yield from ("", f'<div class="admonition {escape(kind)}">', *_title(title), "")
    yield from _lines(body)
    yield from ("", "</div>", "")


def _title(title: str) -> list[str]:
    return [f'<p class="admonition-title">{escape(title)}</p>'] if title else []


def _panel(label: str, body: list[str]) -> Iterator[str]:
    yield from ("", f"<p>{escape(label)}:</p>", "")
    yield from _lines(body)
    yield ""


def _shortcode(match: re.Match[str]) -> str:
    """Of a shortcode only the words that it shows."""
    if match[1]:
        return ""
    word = _SHORTCODE_WORD.search(match[3])
    if word is None or match[2] in ("ref", "relref", "include", "figure"):
        return ""
    return word[1] or word[2] or ""


def _without_components(source: str) -> str:
    kept: list[str] = []
    lines = source.replace("\r\n", "\n").split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        if fence := _FENCE.match(line):
            end = _fence_end(lines, index, fence[2])
            # A fence may stand indented between the tags of a component; alone it is no part of a list.
            kept += _dedented(lines[index:end], len(fence[1]))
            index = end
        elif _MODULE.match(line):
            index = _module_end(lines, index)
        else:
            block = index
            while index < len(lines) and not _FENCE.match(lines[index]) and not _MODULE.match(lines[index]):
                index += 1
            kept += _without_tags("\n".join(lines[block:index])).split("\n")
    return "\n".join(kept)


def _dedented(lines: list[str], indent: int) -> list[str]:
    return [line[min(indent, len(line) - len(line.lstrip())) :] for line in lines]


def _module_end(lines: list[str], start: int) -> int:
    """Where an import or export ends: at the line that closes its brackets."""
    depth = 0
    for index in range(start, len(lines)):
        depth += sum(lines[index].count(mark) for mark in "({[") - sum(lines[index].count(mark) for mark in ")}]")
        if depth <= 0:
            return index + 1
    return start + 1  # never closed: only this line is taken for code


def _without_tags(text: str) -> str:
    """``text`` without components and braces; what stands in backticks is text, whatever it looks like."""
    parts = _INLINE_CODE.split(_BRACED_COMMENT.sub("", text))
    return "".join(part if place % 2 else _untagged(part) for place, part in enumerate(parts))


def _untagged(text: str) -> str:
    text = _TAB_ITEM.sub(lambda match: _tab_label(match[1]), text)
    kept, position = [], 0
    while match := _TAG.search(text, position):
        end = _tag_end(text, match.end())
        kept.append(text[position : match.start()])
        if end < 0:  # never closed: it is text
            kept.append(match[0])
            position = match.end()
            continue
        kept.append("\n" if _alone(text, match.start(), end) else "")
        position = end
    text = "".join([*kept, text[position:]]).replace("{' '}", " ")
    return _BRACED_TEXT.sub(lambda match: match[1] or match[2] or match[3] or "", text)


def _tag_end(text: str, position: int) -> int:
    """Where a tag ends whose attributes may hold code: after its ">" outside of quotes and braces; -1 if nowhere."""
    depth, quote = 0, ""
    for at in range(position, min(len(text), position + MAX_TAG_CHARS)):
        char = text[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'`" and (depth or text[at - 1] in "={ "):
            quote = char
        elif char in "{}":
            depth += 1 if char == "{" else -1
        elif char == ">" and depth <= 0:
            return at + 1
    return -1


def _alone(text: str, start: int, end: int) -> bool:
    """Whether a tag stands on lines of its own: then it separates, else words run on around it."""
    before, after = text[:start].rpartition("\n")[2], text[end:].partition("\n")[0]
    return not before.strip() and not after.strip()


def _tab_label(attributes: str) -> str:
    labels = {match[0].split("=")[0]: match[1] for match in _TAB_LABEL.finditer(attributes)}
    label = labels.get("label") or labels.get("title") or labels.get("value") or ""
    return f"\n\n{label}:\n\n" if label else "\n"
