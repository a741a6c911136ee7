"""Follows the ``answer`` of a ``provide_answer`` call while the call is still streaming in."""

from __future__ import annotations

import re

_HEAD = re.compile(r"\s*call:\s*(?:[\w.:-]*[.:])?provide_answer\s*\{")
_KEY = re.compile(r"(?:^|[{,])\s*answer\s*:\s*$")

#: Characters in front of a string that tell which argument it is.
_KEY_CHARS = 60


class DraftReader:
    """Give it a call's text piece by piece; it gives back what is the answer's."""

    def __init__(self) -> None:
        self._head = ""
        self._outside = ""
        self._is_ours: bool | None = None
        self._in_answer: bool | None = None
        self._done = False

    def feed(self, text: str, quoted: bool) -> str:
        """The part of ``text`` that belongs to the answer.

        Args:
            text: The next piece of the call.
            quoted: Whether it stands inside a string in native quotes.
        """
        if self._done or self._is_ours is False:
            return ""
        if not quoted:
            self._done = bool(self._in_answer)
            self._in_answer = None
            self._outside = (self._outside + text)[-_KEY_CHARS:]
            if self._is_ours is None:
                self._head += text
            return ""
        if self._is_ours is None:
            self._is_ours = _HEAD.match(self._head) is not None
        if self._in_answer is None:
            self._in_answer = self._is_ours and _KEY.search(self._outside) is not None
            self._outside = ""
        return text if self._in_answer else ""
