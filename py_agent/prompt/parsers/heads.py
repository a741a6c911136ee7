"""Decides, character by character, whether a line may become a call that stands without marks.

What is decided for a text is decided for all that begins with it: it does not depend on how a stream was cut.
"""

from __future__ import annotations

import re
from typing import Literal

from py_agent.prompt.parsers.base import Tools, plain_name

#: ``hold``: not decided yet. ``text``: it is text. Else what it may become: a ``fence`` with a call in it, a bare
#: native ``call`` that ends with its brace, or the ``rest`` of the output as JSON, Python or keyed lines.
Verdict = Literal["hold", "text", "fence", "call", "rest"]

#: Info strings of fences that may carry a call; the empty one is a plain fence.
CALL_FENCES = ("tool_code", "json", "")

#: Characters that a name with its namespaces may have.
MAX_NAME_CHARS = 80

_NAME = re.compile(r"[\w.:-]*")


def judge(head: str, tools: Tools) -> Verdict:
    """What the line that begins with ``head`` may become; never called again after another verdict than ``hold``."""
    text = head.lstrip(" ")
    if len(head) - len(text) > 3 or "\t" in head[:4]:
        return "text"  # indented code
    if not text:
        return "hold"
    if text[0] == "`":
        return _fence(text)
    if text[0] in "{[":
        return "rest"
    if text.startswith("call:"):
        return _call(text[5:], tools)
    if "call:".startswith(text):
        return "hold"
    return _bare(text, tools)


def _fence(text: str) -> Verdict:
    run = len(text) - len(text.lstrip("`"))
    info = text[run:]
    if not info:
        return "hold"
    if run < 3 or "`" in info:
        return "text"
    word = info.strip().lower()
    if info.endswith("\n"):
        return "fence" if word in CALL_FENCES else "text"
    return "hold" if any(name.startswith(word) for name in CALL_FENCES) else "text"


def _call(text: str, tools: Tools) -> Verdict:
    name = _NAME.match(text.lstrip(" "))
    assert name is not None
    rest = text.lstrip(" ")[name.end() :]
    if len(text) > MAX_NAME_CHARS:
        return "text"
    if not rest.strip(" "):
        return "hold"
    return "call" if rest.strip(" ")[0] in "{(" and plain_name(name[0]) in tools else "text"


def _bare(text: str, tools: Tools) -> Verdict:
    word = re.match(r"\w*", text)
    assert word is not None
    rest = text[word.end() :]
    if not rest:
        return "hold" if tools.may_begin(word[0]) else "text"
    return "rest" if word[0] in tools and rest[0] in "{(\n" else "text"
