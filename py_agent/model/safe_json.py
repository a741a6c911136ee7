"""JSON from elsewhere: what nests too deep is refused before a parser that recurses sees it.

In a page Python dies of it instead of raising ``RecursionError``.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any

#: Levels that JSON from elsewhere may nest: no call, event or export of ours has more than a dozen.
MAX_LEVELS = 64

# Possessive, its end optional: a string without an end must not be looked at again from every quote in it.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]+")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


def check_levels(text: str, limit: int = MAX_LEVELS) -> None:
    """Refuses text whose brackets nest deeper than ``limit``.

    Raises:
        ValueError: They do.
    """
    if text.count("[") + text.count("{") <= limit:
        return
    brackets = _NO_BRACKET.sub("", _STRING.sub("", text))
    if max(accumulate(map(_STEP.__getitem__, brackets), initial=0)) > limit:
        raise ValueError(f"it nests more than {limit} levels deep")


def loads(text: str | bytes) -> Any:
    """The value that ``text`` is.

    Raises:
        ValueError: It is no JSON, or nests more than ``MAX_LEVELS`` levels.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    check_levels(text)
    return json.loads(text)
