"""How a call without markers begins: what may stand at the start of a line and turn out to be one."""

from __future__ import annotations

import re
from typing import Literal

from py_agent.prompt.dialects.gemma4 import QUOTE
from py_agent.prompt.parsers.json_call import could_be_call
from py_agent.prompt.parsers.known import KnownTools

#: Characters that are enough to judge any head, whatever the tools are called.
MAX_LOOK = 400

#: ``call``: brackets follow; ``keyed``: lines follow; ``no``: it is text; None: more has to come.
Head = Literal["call", "keyed", "no"] | None

_CALL = re.compile(r"call:\s{0,4}([\w.:-]{1,80})\s{0,4}[{(]")
_CALL_HALF = re.compile(r"c(?:a(?:l(?:l(?::\s{0,4}[\w.:-]{0,80}\s{0,4})?)?)?)?")
# Spaces are counted: what is judged with less text in hand has to be judged the same with more.
_INDENT = re.compile(r"[ \t]{0,4}")
_GAP = re.compile(r"\s{0,40}")
_WORD = re.compile(r"[A-Za-z_]\w{0,60}\s{0,4}")


def bare_head(text: str, tools: KnownTools, *, first: bool) -> Head:
    """Judges the text from the start of a line (or of a sentence) on.

    Args:
        text: As much as has come, at least one character.
        tools: A name has to be known.
        first: Whether a list of ``key: value`` lines may begin here, too.
    """
    if not tools:
        return "no"
    if text[0] == "c" and (match := _CALL.match(text) or _CALL_HALF.fullmatch(text)):
        return None if match.re is _CALL_HALF else "call" if tools.resolve(match[1]) in tools else "no"
    if text[0] == "{":
        return _judged(could_be_call(text, tools))
    if text[0] == "[":
        inner = _GAP.sub("", text[1:], count=1)
        if not inner:
            return None
        return "no" if inner[0] == "[" or inner.startswith("call:") else bare_head(inner, tools, first=False)
    return _named(text, tools, first=first)


def _named(text: str, tools: KnownTools, *, first: bool) -> Head:
    if tools.starts(text):
        return None
    for name in sorted(tools.parameters, key=len, reverse=True):
        if not text.startswith(name):
            continue
        rest = text[len(name) :]
        while rest.startswith(f":{name}"):
            rest = rest[len(name) + 1 :]
        if f":{name}".startswith(rest):
            return None
        rest = _INDENT.sub("", rest, count=1)
        if not rest or rest == "\r":
            return None
        if first and rest.startswith(("\n", "\r\n")):
            return "keyed"
        return _judged(_argument(_GAP.sub("", rest[1:], count=1), rest[0])) if rest[0] in "{(" else "no"
    return "no"


def _argument(inside: str, bracket: str) -> bool | None:
    """Whether what stands behind a bracket begins arguments: ``name(s) of people`` does not."""
    if not inside:
        return None
    if inside[0] in "\"'\u201c":
        return True
    if inside[0] == "<":
        return True if inside.startswith(QUOTE) else None if QUOTE.startswith(inside) else False
    if inside[0] == ("}" if bracket == "{" else ")"):
        return True
    word = _WORD.match(inside)
    if word is None:
        return False
    return None if word.end() == len(inside) else inside[word.end()] in ":="


def _judged(verdict: bool | None) -> Head:
    return None if verdict is None else "call" if verdict else "no"
