"""A call that ends with its own bracket: follows brackets and strings while the text streams by."""

from __future__ import annotations

from py_agent.prompt.dialects.gemma4 import QUOTE

_OPEN = {"{": "}", "[": "]", "(": ")"}
_VALUE_STARTS = "{[(,:="


class BareCall:
    """Feed it text from the first character of the call on, until it says that the call is over."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, bool]] = []
        self._stack: list[str] = []
        self._quote = ""
        self._escaped = False
        self._last = ""
        self._waiting = ""

    @property
    def text(self) -> str:
        """The call so far."""
        return "".join(part for part, _ in self._parts) + self._waiting

    @property
    def size(self) -> int:
        """How many parts there are; see ``new``."""
        return len(self._parts)

    def new(self, before: int) -> list[tuple[str, bool]]:
        """The parts behind the first ``before``, native quotes left out: text, and whether it is in native quotes."""
        return [part for part in self._parts[before:] if part[0] != QUOTE]

    def feed(self, text: str) -> str | None:
        """Takes more text. What stands behind the end of the call, or None where the end has not come."""
        text, self._waiting = self._waiting + text, ""
        start = at = 0
        while at < len(text):
            if text[at] == "<" and self._quote in ("", QUOTE):
                rest = text[at : at + len(QUOTE)]
                if rest == QUOTE:
                    self._add(text[start:at])
                    self._parts.append((QUOTE, False))
                    self._quote = "" if self._quote else QUOTE
                    self._last = QUOTE
                    start = at = at + len(QUOTE)
                    continue
                if QUOTE.startswith(rest):
                    self._add(text[start:at])
                    self._waiting = text[at:]
                    return None
            if self._step(text[at]):
                self._add(text[start : at + 1])
                return text[at + 1 :]
            at += 1
        self._add(text[start:])
        return None

    def _add(self, text: str) -> None:
        if text:
            self._parts.append((text, self._quote == QUOTE))

    def _step(self, char: str) -> bool:
        """One character; whether it closes the call."""
        if self._quote == QUOTE:
            return False
        if self._quote:
            if self._escaped:
                self._escaped = False
            elif char == "\\":
                self._escaped = True
            elif char == self._quote:
                self._quote, self._last = "", char
            return False
        if char in "\"'" and self._last and self._last in _VALUE_STARTS:
            self._quote = char
        elif char in _OPEN:
            self._stack.append(_OPEN[char])
        elif self._stack and char == self._stack[-1]:
            self._stack.pop()
            if not self._stack:
                return True
        if not char.isspace():
            self._last = char
        return False
