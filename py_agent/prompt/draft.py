"""Follows the ``answer`` of a ``provide_answer`` call while the call is still streaming in."""

from __future__ import annotations

import re

from py_agent.prompt.dialects.gemma4 import QUOTE

_HEAD = re.compile(r"\s*call:[\w.:-]*?\bprovide_answer\s*\{")
_KEY = re.compile(r"(?:^|[{,])\s*answer\s*:\s*$")


class DraftReader:
    """Give it a call's text as it grows; it gives back what is new of the answer."""

    def __init__(self) -> None:
        self._sent = 0

    def feed(self, call: str) -> str:
        """The part of the answer that ``call``, the text of the call so far, adds to what was given back before."""
        if _HEAD.match(call) is None:
            return ""
        parts = call.split(QUOTE)
        for index in range(1, len(parts), 2):
            if _KEY.search(parts[index - 1]):
                answer = parts[index]
                new, self._sent = answer[self._sent :], max(self._sent, len(answer))
                return new
        return ""
