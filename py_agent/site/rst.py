"""reStructuredText to sections: docutils renders it, and Sphinx's directives and roles lose no text on the way."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from docutils import nodes
from docutils.core import publish_parts
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

from py_agent.site.decode import decode
from py_agent.site.document import Document
from py_agent.site.html import read_html

_DIRECTIVE = re.compile(r"^\s*\.\.\s+(?:\|[^|]+\|\s+)?([A-Za-z][\w:.+-]*)::", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w:.+-]*):`")
_META = re.compile(r"\A(?:\s*:[\w-]+:[^\n]*\n)+(?=\s*\n|\Z)")
_LABEL = re.compile(
    r"^\.\.\s+_([^:\n`]+):\s*\n(?:\s*\n|\.\.\s+_[^\n]+\n)*(?:([^\w\s])\2{2,}\s*\n)?(\S[^\n]*)\n([^\w\s])\4{2,}"
)
_TARGET = re.compile(r"^\.\.\s+_", re.MULTILINE)
#: How far below its label a title is looked for: labels stand right above it.
LABEL_CHARS = 2_000
_OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
_EXPLICIT = re.compile(r"^(.*?)\s*<([^<>]+)>$", re.DOTALL)
#: Directives that show nothing of their own, or lists of what stands on other pages.
SILENT = frozenset(
    """toctree contents index currentmodule module py:module py:currentmodule highlight default-role automodule
    autosummary literalinclude include raw meta
    tabularcolumns sectionauthor codeauthor only-in todo todolist graphviz digraph uml plantuml inheritance-diagram
    program image""".split()
)
_CODE = frozenset(
    ("code-block", "sourcecode", "code", "highlight-block", "parsed-literal", "prompt", "ipython", "doctest")
)
_VERSIONS = {
    "versionadded": "New in version {}",
    "versionchanged": "Changed in version {}",
    "deprecated": "Deprecated since version {}",
    "versionremoved": "Removed in version {}",
}
#: Directives that describe one thing, named by the last part of theirs (``py:function``, ``c:macro``).
OBJECTS = frozenset(
    """function class method attribute data exception option cmdoption envvar confval macro type module property
    staticmethod classmethod decorator struct union enum enumerator member var describe object rst:directive
    setting templatetag templatefilter django-admin fieldlookup""".split()
)
_WITH_PARENTHESES = frozenset(("func", "meth"))
_LITERAL = frozenset(
    "func meth class attr mod data exc obj const type macro option envvar file command program".split()
)
_SETTINGS = {
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "initial_header_level": 1,
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "embed_stylesheet": False,
    "smart_quotes": False,
    "input_encoding": "unicode",
    "_disable_config": True,
}


def read_rst(data: bytes | str) -> Document:
    """Reads a reStructuredText page. Nothing is included or run: an included file is a page of its own, or none."""
    source, wrong = decode(data) if isinstance(data, bytes) else (data, "")
    source = _META.sub("", source.replace("\r\n", "\n"))
    _know(source)
    parts = publish_parts(source, writer="html5", settings_overrides=_SETTINGS)
    document = read_html(f"<!doctype html><html><body><main>{parts['body']}</main></body></html>")
    document.problems += [wrong] if wrong else []
    return document


def _know(source: str) -> None:
    """Makes docutils know the directives and roles of ``source`` that are Sphinx's or an extension's."""
    for name in {name.lower() for name in _DIRECTIVE.findall(source)}:
        if name not in en.directives or name in _CODE or name in SILENT:
            directives.register_directive(name, _Sphinx)
        elif name not in _tolerant:
            _tolerant.add(name)
            known, _ = directives.directive(name, en, None)
            if known.option_spec:  # what else Sphinx takes is no reason to lose the directive
                wide = {"option_spec": _AnyOption(known.option_spec)}
                directives.register_directive(name, type(known.__name__, (known,), wide))
    _labels.clear()
    for match in _labelled(source):
        _labels[" ".join(match[1].lower().split())] = match[3].strip()
    for name in set(_ROLE.findall(source)):
        if name.lower() not in en.roles:
            roles.register_local_role(name, _role)


def _labelled(source: str) -> list[re.Match[str]]:
    return [
        match
        for part in re.finditer(r"^\.\.\s+_", source, re.MULTILINE)
        if (match := _LABEL.match(source[part.start() :][:2_000]))
    ]


_labels: dict[str, str] = {}
_tolerant: set[str] = set()


def _role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = None
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """A role of Sphinx: of ``title <target>`` the title, else the target's text."""
    text = text.replace("\x00", "")
    kind = name.rsplit(":", 1)[-1].lower()
    if match := _EXPLICIT.match(text):
        return [nodes.inline(rawtext, match[1])], []
    if kind in ("ref", "numref"):
        return [nodes.inline(rawtext, _labels.get(" ".join(text.lower().split()), text))], []
    shown = text.lstrip("!")
    if shown.startswith("~"):
        shown = shown[1:].rsplit(".", 1)[-1]
    if kind in _WITH_PARENTHESES and not shown.endswith(")"):
        shown += "()"
    return [(nodes.literal if kind in _LITERAL else nodes.inline)(rawtext, shown)], []


class _AnyOption(dict[str, Any]):
    """Takes every option: what it means is the generator's business."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class _Sphinx(Directive):  # type: ignore[misc] # docutils carries no types
    """A directive that docutils does not know: its argument and its content are kept, in the form they are meant in."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    # docutils drops a directive that has an option twice, so the options are taken out of the argument here.
    option_spec: ClassVar[None] = None

    def run(self) -> list[nodes.Node]:
        name = self.name.lower()
        lines = "\n".join(self.arguments).split("\n")
        split = next((at for at, line in enumerate(lines) if _OPTION.match(line.strip())), len(lines))
        self.options = {match[1]: match[2] for line in lines[split:] if (match := _OPTION.match(line.strip()))}
        signatures = [line.strip() for line in lines[:split] if line.strip()]
        argument = " ".join(signatures)
        if name in SILENT:
            return []
        if name in _CODE:
            return self._code(argument)
        if name in _VERSIONS:
            version, _, rest = argument.partition(" ")
            return [
                nodes.paragraph("", f"{_VERSIONS[name].format(version)}{': ' + rest if rest else ''}"),
                *self._body(),
            ]
        if {name, name.rsplit(":", 1)[-1], name.removeprefix("auto")} & OBJECTS:
            return self._object(signatures)
        titles: list[nodes.Node] = []
        if argument or name == "seealso":
            titles = [self._text(argument or "See also")]
        return [nodes.container("", *titles, *self._body())]

    def _text(self, text: str) -> nodes.Node:
        found, _ = self.state.inline_text(text, self.lineno)
        return nodes.paragraph(text, "", *found)

    def _body(self) -> list[nodes.Node]:
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder, match_titles=1)
        return list(holder.children)

    def _code(self, argument: str) -> list[nodes.Node]:
        text = "\n".join(self.content)
        if not text:
            text, argument = argument, ""
        block = nodes.literal_block(text, text, classes=["code", f"highlight-{argument or 'none'}"])
        caption = self.options.get("caption")
        return [nodes.paragraph("", caption), block] if caption else [block]

    def _object(self, signatures: list[str]) -> list[nodes.Node]:
        """One or more signatures, and what is said of them."""
        item = nodes.definition_list_item()
        item += [nodes.term("", signature) for signature in signatures]
        options = [
            nodes.paragraph("", f"{key.capitalize()}: {value}")
            for key, value in self.options.items()
            if key in ("type", "default", "value") and value
        ]
        item += nodes.definition("", *options, *self._body())
        return [nodes.definition_list("", item)]
