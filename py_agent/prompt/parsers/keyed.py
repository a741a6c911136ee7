"""A call as a list: the tool's name on the first line, then one ``key: value`` a line."""

from __future__ import annotations

import re
from typing import Any

from py_agent.model.prompt import CallSpec
from py_agent.prompt.parsers.bad import BadCall
from py_agent.prompt.parsers.chars import unescape
from py_agent.prompt.parsers.known import KnownTools
from py_agent.prompt.parsers.native import parse_arguments

_LINE = re.compile(r"\s*([A-Za-z_]\w*)[ \t]*[:=][ \t]*(.*)", re.DOTALL)
_START = re.compile(r"\s*(?:[A-Za-z_]\w*[ \t]*)?")
_QUOTED = re.compile(r"""<\|"\|>(?P<native>.*)<\|"\|>|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'""")


def could_be_line(name: str, line: str, tools: KnownTools, *, complete: bool) -> bool:
    """Whether ``line`` is a line of a call to ``name``, or can become one."""
    if not line.strip():
        return True
    match = _LINE.fullmatch(line)
    if match is None:
        return not complete and _START.fullmatch(line) is not None
    parameters = tools.parameters.get(name, ())
    return not parameters or match[1] in parameters


def parse_keyed(text: str, tools: KnownTools) -> CallSpec:
    """The call in ``text``: a name and at least one line.

    Raises:
        BadCall: It is none.
    """
    head, *lines = text.strip().split("\n")
    name = tools.resolve(head)
    arguments: dict[str, Any] = {}
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is not None:
            arguments[match[1]] = _value(match[2].strip())
        elif line.strip():
            raise BadCall(f"{name}: write one argument a line", name)
    if not arguments:
        raise BadCall(f"{name}: there is no argument", name)
    return CallSpec(name=name, arguments=arguments)


def _value(text: str) -> Any:
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return (
            quoted["native"] if quoted["native"] is not None else unescape(quoted["double"] or quoted["single"] or "")
        )
    if text[:1] in ("[", "{"):
        try:
            return parse_arguments("{value:" + text + "}", closed=False)["value"]
        except BadCall:
            return text
    # What type it is to have is the tool's to say.
    return text
