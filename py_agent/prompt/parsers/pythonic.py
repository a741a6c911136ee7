"""Calls written as Python: ``search_docs(query="x")``, alone, in ``print(...)``, or in a list.

The text is parsed with ``ast`` and only literals count. Nothing is evaluated, imported or looked up.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from py_agent.model.prompt import CallSpec
from py_agent.prompt.dialects.gemma4 import QUOTE
from py_agent.prompt.parsers.bad import BadCall
from py_agent.prompt.parsers.chars import unescape
from py_agent.prompt.parsers.known import KnownTools
from py_agent.prompt.parsers.lexer import MAX_DEPTH, Lexer

if TYPE_CHECKING:
    import ast

#: Characters of the source outside of its strings, at most: a call has a few dozen. Python's parser recurses over
#: operators and brackets, and in a page the stack is small.
MAX_CODE = 2_000

_WORDS = {"true": True, "false": False, "null": None, "none": None}


def parse_program(source: str, tools: KnownTools) -> list[CallSpec | BadCall]:
    """The calls in ``source``, in order; one that is not plain data is a ``BadCall`` that names its tool.

    Raises:
        BadCall: ``source`` is no Python that consists of calls.
    """
    import ast

    plain = _plain_strings(source)
    try:
        tree = ast.parse(plain)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise BadCall("the call is not complete or not well written") from error
    found: list[CallSpec | BadCall] = []
    kept: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and all(isinstance(name, ast.Name) for name in statement.targets):
            kept.update(name.id for name in statement.targets if isinstance(name, ast.Name))
            value: ast.expr = statement.value
        elif isinstance(statement, ast.Expr):
            value = _printed(statement.value)
        else:
            raise BadCall("there is code around the calls")
        if isinstance(value, ast.Name) and value.id in kept:
            continue
        for node in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
            if not isinstance(node, ast.Call):
                raise BadCall("there is code around the calls")
            found.append(_call(node, tools))
    if not found:
        raise BadCall("there is no call in it")
    return found


def _printed(node: ast.expr) -> ast.expr:
    """The one thing that a ``print(...)`` prints; any other expression as it is."""
    import ast

    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and len(node.args) == 1
        and not node.keywords
    ):
        node = node.args[0]
    return node


def _call(node: ast.Call, tools: KnownTools) -> CallSpec | BadCall:
    name = tools.resolve(_name(node.func))
    if not name:
        return BadCall("the name of a tool is a plain name")
    arguments: dict[str, Any] = {}
    parameters = tools.parameters.get(name, ())
    try:
        if len(node.args) > len(parameters):
            raise BadCall(f"{name}: write the name of every argument", name)
        for parameter, value in zip(parameters, node.args, strict=False):
            arguments[parameter] = _literal(value)
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in arguments:
                raise BadCall(f"{name}: write every argument once, as name=value", name)
            arguments[keyword.arg] = _literal(keyword.value)
    except _Code:
        return BadCall(f"{name}: an argument is code; write it out as text, a number, a list or an object", name)
    except BadCall as bad:
        return bad
    return CallSpec(name=name, arguments=arguments)


def _name(node: ast.expr) -> str:
    import ast

    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


class _Code(Exception):
    """An argument is something else than data."""


def _literal(node: ast.expr) -> Any:
    import ast

    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Constant(value=float() as number) if not math.isfinite(number):
            raise _Code
        case ast.Constant(value=None | bool() | int() | float() as plain):
            return plain
        case ast.Name(id=word) if word.lower() in _WORDS:
            return _WORDS[word.lower()]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            named = [_literal(key) if key is not None else None for key in keys]
            if not all(isinstance(key, str) for key in named):
                raise _Code
            return dict(zip(named, map(_literal, values), strict=True))
    raise _Code


def _plain_strings(source: str) -> str:
    """``source`` with each string written anew, on one line and with quotes that Python knows: models write newlines
    into strings as they are, and use Gemma's own quotes.

    Raises:
        BadCall: It is too long or too deep for a call, or a string is open at its end.
    """
    lexer = Lexer()
    lexer.feed(source.strip())
    parts: list[str] = []
    content: list[str] = []
    raw = False
    code = 0
    for kind, text in lexer.tokens(final=True):
        if kind == "string":
            content.append(text)
            continue
        code += len(text)
        if code > MAX_CODE or lexer.depth > MAX_DEPTH:
            raise BadCall("that is more than a call")
        if kind == "quote":
            raw = text == QUOTE or (bool(parts) and parts[-1].strip() in ("r", "R"))
            if raw and text != QUOTE:
                parts.pop()
            content = []
        elif kind == "unquote":
            string = "".join(content)
            parts.append(json.dumps(string if raw else unescape(string), ensure_ascii=False))
        else:
            parts.append(text)
    if lexer.quote:
        raise BadCall("a string is not closed")
    return "".join(parts)
