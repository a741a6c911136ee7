"""Writes the reference of the harness from its code: primitives, events, errors with codes, constants with reasons.

It reads the sources and imports nothing: what stands in the page is what stands in the code.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from py_agent.model.errors import AgentError

PACKAGE = Path(__file__).resolve().parents[1]

#: Rooms that are no part of the harness: what they have is documented on the pages of the command line and of testing.
OUTSIDE = frozenset({"site", "testing", "evals", "cli"})

#: Modules whose classes are events.
EVENT_MODULES = ("runner/events.py", "runner/observed.py", "runner/bus.py")

#: Characters of a constant's value that are shown.
MAX_VALUE_CHARS = 80

INTRO = """# Reference

Written from the code at every build: the primitives that the harness works with, the events that a turn emits, the
errors that it raises, and every constant with its reason.
"""


class Undocumented(AgentError):
    """Something public has no documentation, so the reference would lie by leaving it out."""

    code = "undocumented"


@dataclass
class Entry:
    """A class or a constant: where it stands, its name, what its documentation says."""

    module: str
    name: str
    text: str
    fields: list[tuple[str, str, str]] = field(default_factory=list)
    bases: tuple[str, ...] = ()
    value: str = ""


@dataclass
class Code:
    """One error code as it is raised somewhere."""

    code: str
    error: str
    module: str
    message: str


@dataclass
class Reference:
    """All that the page tells."""

    classes: list[Entry]
    constants: list[Entry]
    codes: list[Code]

    def primitives(self) -> list[Entry]:
        """The vocabulary: the records and the other public classes of ``model/``, errors left out."""
        errors = {entry.name for entry in self.errors()}
        return [entry for entry in self.classes if entry.module.startswith("model/") and entry.name not in errors]

    def events(self) -> list[Entry]:
        """The events of both buses: what has a ``type``."""
        return [
            entry
            for entry in self.classes
            if entry.module in EVENT_MODULES and any(name == "type" for name, _, _ in entry.fields)
        ]

    def errors(self) -> list[Entry]:
        """``AgentError`` and all that derives from it."""
        names = {"AgentError"}
        while True:
            more = {entry.name for entry in self.classes if names & set(entry.bases)} - names
            if not more:
                return [entry for entry in self.classes if entry.name in names]
            names |= more


def read_reference(package: Path = PACKAGE) -> Reference:
    """Reads the sources of the harness.

    Raises:
        Undocumented: A public class or a constant without documentation, by name.
    """
    reference = Reference([], [], [])
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package).as_posix()
        if module.split("/")[0] in OUTSIDE:
            continue
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        reference.classes += _classes(module, tree)
        reference.constants += _constants(module, tree, source.splitlines())
        reference.codes += _codes(module, tree)
    return reference


def _classes(module: str, tree: ast.Module) -> Iterator[Entry]:
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        text = ast.get_docstring(node)
        if not text:
            raise Undocumented(f"{module}: the class {node.name} has no docstring.", hint="Say what it is.")
        bases = tuple(ast.unparse(base).split("[")[0] for base in node.bases)
        yield Entry(module, node.name, inspect.cleandoc(text), list(_fields(node)), bases)


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and not item.target.id.startswith("_"):
            default = "" if item.value is None else ast.unparse(item.value)
            yield item.target.id, ast.unparse(item.annotation), default


def _constants(module: str, tree: ast.Module, lines: list[str]) -> Iterator[Entry]:
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        public = [name for name in names if re.fullmatch(r"[A-Z][A-Z0-9_]*", name)]
        text = _comment(lines, node.lineno - 1)
        number = isinstance(node.value, ast.Constant) and isinstance(node.value.value, int | float)
        if public and number and not text:
            raise Undocumented(f"{module}: {public[0]} has no `#:` comment.", hint="Say what it is and why so much.")
        if public and text:
            value = " ".join(ast.unparse(node.value).split())
            shown = value if len(value) <= MAX_VALUE_CHARS else ""
            yield Entry(module, ", ".join(public), text, value=shown)


def _comment(lines: list[str], at: int) -> str:
    """The ``#:`` comment above a line. Constants that follow one another share the last one."""
    found: list[str] = []
    while at > 0 and (
        lines[at - 1].startswith("#:") or (not found and re.match(r"[A-Z][A-Z0-9_]* [:=]", lines[at - 1]))
    ):
        at -= 1
        if lines[at].startswith("#:"):
            found.insert(0, lines[at].removeprefix("#:").strip())
    return " ".join(found)


def _codes(module: str, tree: ast.Module) -> Iterator[Code]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith(("Error", "lost")):
            for keyword in node.keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                    message = _message(node.args[0]) if node.args else ""
                    yield Code(str(keyword.value.value), node.func.id, module, message)
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if (
                    isinstance(item, ast.Assign)
                    and any(isinstance(target, ast.Name) and target.id == "code" for target in item.targets)
                    and isinstance(item.value, ast.Constant)
                ):
                    yield Code(str(item.value.value), node.name, module, "")


def _message(node: ast.expr) -> str:
    """A message's text, with names in the place of what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return ""


def write_reference(reference: Reference) -> str:
    """The page, as Markdown."""
    parts = [INTRO, "## Primitives\n"]
    parts += [_class(entry) for entry in reference.primitives()]
    parts.append("## Events\n")
    parts += [_class(entry) for entry in reference.events()]
    parts.append("## Errors\n")
    parts += [_class(entry) for entry in reference.errors()]
    parts.append("### Codes\n\n| code | raised as | where | message |\n|---|---|---|---|")
    seen: set[tuple[str, str, str]] = set()
    for code in sorted(reference.codes, key=lambda item: (item.code, item.error, item.module)):
        key = (code.code, code.error, code.module)
        if key not in seen:
            seen.add(key)
            parts.append(f"| `{code.code}` | {code.error} | {code.module} | {_cell(code.message)} |")
    parts.append("\n## Constants\n\n| constant | value | where | what it is, and why |\n|---|---|---|---|")
    for entry in reference.constants:
        value = f"`{_code(entry.value)}`" if entry.value else ""
        parts.append(f"| `{entry.name}` | {value} | {entry.module} | {_cell(entry.text)} |")
    return "\n".join(parts) + "\n"


def _class(entry: Entry) -> str:
    body = _prose(entry.text)
    rows = "".join(f"| `{name}` | `{_code(kind)}` | {_default(default)} |\n" for name, kind, default in entry.fields)
    table = f"\n| field | type | default |\n|---|---|---|\n{rows}" if rows else ""
    return f"### {entry.name}\n\n*{entry.module}*\n\n{body}\n{table}"


def _prose(text: str) -> str:
    """A docstring as Markdown: its sections are headings in bold, and names in double backticks are code."""
    text = re.sub(r"^(Attributes|Args|Returns|Raises):$", r"**\1**\n", text, flags=re.MULTILINE)
    text = re.sub(r"^    (\S.*?): ", r"- `\1`: ", text, flags=re.MULTILINE)
    text = re.sub(r"^ {8,}", "  ", text, flags=re.MULTILINE)
    return text.replace("``", "`")


def _default(text: str) -> str:
    return f"`{_code(text)}`" if text else "required"


def _code(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("`", "'").split())


def _cell(text: str) -> str:
    return " ".join(text.replace("``", "`").replace("|", "\\|").replace("<", "&lt;").split())
