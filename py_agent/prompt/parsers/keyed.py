"""Calls as a name on a line of its own and ``key: value`` lines below it."""

from __future__ import annotations

import re

from py_agent.model.prompt import CallSpec
from py_agent.model.safe_json import loads
from py_agent.prompt.parsers.base import Found, Tools

_LINE = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*(\S.*?)\s*")


def keyed_call(text: str, tools: Tools) -> Found | None:
    """The call that ``text`` is; None where it is anything else."""
    name, *lines = [line for line in text.strip().split("\n") if line.strip()]
    name = name.strip()
    matches = [_LINE.fullmatch(line) for line in lines]
    if name not in tools or not lines or not all(matches):
        return None
    arguments = {}
    for match in matches:
        assert match is not None
        if match[1] not in tools.parameters(name):
            return None
        arguments[match[1]] = _value(match[2])
    return Found(calls=[CallSpec(name=name, arguments=arguments)])


def _value(text: str) -> object:
    """Quoted text and JSON as what they are; everything else as it stands."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    if text[0] in '"[{':
        try:
            return loads(text)
        except ValueError:
            return text
    return text
