"""Calls in Python's form: ``search_docs(query="x")``, alone, several, in ``print(...)`` or in a list.

The text is parsed, never evaluated: an argument that is no literal is refused.
"""

from __future__ import annotations

import re
from typing import Any

from py_agent.model.prompt import CallSpec
from py_agent.model.safe_json import check_levels
from py_agent.prompt.parsers.base import BadCall, Found, Tools, plain_name

#: Characters of a text that is parsed as Python at most: Python's parser takes memory by the nesting, and a call that
#: is longer than any window is none.
MAX_CHARS = 40_000

#: Brackets in brackets at most, counted as if strings did not close them: a parser that recurses must not see more.
MAX_LEVELS = 64

#: Operators at most: arguments are plain values, which have a sign at most, and a long row of operators recurses, too.
MAX_OPERATORS = 100

_STRINGS = re.compile(r"""\"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_OPERATORS = re.compile(r"[-+*/%~@&|^<>.]|\b(?:not|else|if|lambda|and|or|in|is|await|for)\b")

_WORDS = {"true": True, "false": False, "null": None, "none": None}


def python_calls(text: str, tools: Tools) -> Found | None:
    """The calls in ``text``, if it consists of nothing else.

    Args:
        text: What may be Python.
        tools: Only these can be called; their parameters name positional arguments.

    Returns:
        None where the text is anything but calls of known tools.
    """
    import ast

    try:
        nodes = _parse(ast, text)
    except BadCall:
        return None
    found = Found()
    for node in nodes:
        name = plain_name(_name(ast, node.func))
        if name not in tools:
            return None
        try:
            found.calls.append(CallSpec(name=name, arguments=_arguments(ast, node, tools.parameters(name))))
        except BadCall as error:
            found.rejected.append((name, str(error)))
    return found if found.calls or found.rejected else None


def one_call(text: str) -> CallSpec:
    """The call that ``text`` is, of whatever name.

    Raises:
        BadCall: It is not exactly one call with literal arguments.
    """
    import ast

    nodes = _parse(ast, text)
    if len(nodes) != 1:
        raise BadCall("there must be exactly one call")
    return CallSpec(name=plain_name(_name(ast, nodes[0].func)), arguments=_arguments(ast, nodes[0], ()))


def _parse(ast: Any, text: str) -> list[Any]:
    """The call nodes that ``text`` consists of."""
    if len(text) > MAX_CHARS:
        raise BadCall("the call is too long")
    bare = _STRINGS.sub("", text)
    if len(_OPERATORS.findall(bare)) > MAX_OPERATORS:
        raise BadCall("the arguments must be plain values, not code")
    try:
        check_levels(bare.replace("(", "[").replace(")", "]"), MAX_LEVELS)
    except ValueError as error:
        raise BadCall("the arguments are nested too deep") from error
    try:
        tree = ast.parse(text.strip(), mode="exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadCall("the call is not complete Python") from error
    nodes: list[Any] = []
    for statement in tree.body:
        if not isinstance(statement, ast.Expr | ast.Assign):
            raise BadCall("there is more than calls")
        value = statement.value
        items = value.elts if isinstance(value, ast.List) else [value]
        for item in items:
            if isinstance(item, ast.Call) and _name(ast, item.func) == "print" and len(item.args) == 1:
                item = item.args[0]
            if not isinstance(item, ast.Call):
                raise BadCall("there is more than calls")
            nodes.append(item)
    return nodes


def _name(ast: Any, node: Any) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise BadCall("what is called is no name")
    return ".".join([node.id, *parts])


def _arguments(ast: Any, node: Any, parameters: tuple[str, ...]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if len(node.args) > len(parameters):
        raise BadCall("every argument is written name=value")
    for name, value in zip(parameters, node.args, strict=False):
        arguments[name] = _literal(ast, value, name)
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise BadCall("every argument is written name=value, once")
        arguments[keyword.arg] = _literal(ast, keyword.value, keyword.arg)
    return arguments


def _literal(ast: Any, node: Any, name: str) -> Any:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in _WORDS:
            inner.__class__ = ast.Constant
            inner.value, inner.kind = _WORDS[inner.id], None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError) as error:
        raise BadCall(f"{name} must be a plain value, not code") from error
    return _json_value(value, name)


def _json_value(value: Any, name: str) -> Any:
    """``value`` as JSON has it; sets, bytes and complex numbers are none."""
    if isinstance(value, dict):
        return {str(key): _json_value(item, name) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item, name) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise BadCall(f"{name} must be a plain value, not {type(value).__name__}")
