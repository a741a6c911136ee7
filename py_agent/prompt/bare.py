"""Calls without markers and without a fence: they count only where nothing but calls follows, to the end."""

from __future__ import annotations

import re

from py_agent.prompt.calls import BadCall
from py_agent.prompt.held import Held, Verdict
from py_agent.prompt.markers import CALL_ENDS, CALLS, MARKERS, STOPS, THOUGHTS, half_marker_at, marker_at
from py_agent.prompt.parsers.heads import MAX_LOOK, bare_head
from py_agent.prompt.parsers.keyed import could_be_line, parse_keyed
from py_agent.prompt.parsers.known import KnownTools
from py_agent.prompt.parsers.lexer import Lexer

_BREAK = re.compile(r"[<\n]")


class Bare(Held):
    """A call without markers. It counts if nothing but calls follows, to the end of the output.

    Args:
        tools: What is known of the tools.
        alone: Whether that holds for ``call:NAME{...}``, too. On a line of its own this is the native form whose
            markers the decoder took away, and text may follow.
    """

    def __init__(self, tools: KnownTools, *, alone: bool) -> None:
        super().__init__(tools)
        self._alone = alone
        self._lexer = Lexer(MARKERS)
        self._body: list[str] = []
        self._bodies: list[str] = []
        # What has come behind a complete call; None inside one.
        self._between: str | None = None

    def _take(self, text: str) -> Verdict:
        if self._between is None:
            self._lexer.feed(text)
        else:
            self._between += text
        return self._go_on(final=False)

    def _go_on(self, *, final: bool) -> Verdict:
        while True:
            verdict = self._read(final=final) if self._between is None else self._gap(self._between)
            if verdict is not None:
                return verdict

    def _read(self, *, final: bool) -> Verdict | None:
        """Reads on in a call; None when it is complete."""
        start = len(self._body)
        for kind, part in self._lexer.tokens(final=final):
            if kind == "marker":
                if part in (*CALLS, *THOUGHTS):
                    return self._text(part + self._lexer.rest)
                if part in STOPS:
                    return self._end(part + self._lexer.rest, closed=False)
                if part in CALL_ENDS:
                    return self._end(self._lexer.rest, closed=True)
                continue
            self._body.append(part)
            if kind == "close" and self._lexer.depth == 0:
                self.news += "".join(self._body[start:])
                self._bodies.append("".join(self._body))
                self._body = []
                self._between = self._lexer.rest
                return None
        self.news += "".join(self._body[start:])
        return "open"

    def _gap(self, text: str) -> Verdict | None:
        """Behind a complete call: the next one (None), the end, or text, with which it was none."""
        text = text.lstrip()
        while text.startswith("<"):
            marker = marker_at(text, 0)
            if not marker:
                break
            if marker in (*CALLS, *THOUGHTS):
                return self._followed(text)
            if marker in STOPS:
                return self._end(text, closed=False)
            if marker in CALL_ENDS:
                return self._end(text[len(marker) :], closed=True)
            text = text[len(marker) :].lstrip()
        self._between = text
        if not text or half_marker_at(text, 0):
            return "open"
        head = bare_head(text[:MAX_LOOK], self._tools, first=False)
        if head is None:
            return "open"
        if head != "call":
            return self._followed(text)
        self._between = None
        self._lexer = Lexer(MARKERS)
        self._lexer.feed(text)
        return None

    def _followed(self, text: str) -> Verdict:
        """Something else follows."""
        native = not self._alone and all(body.startswith("call:") for body in self._bodies)
        return self._end(text, closed=False) if native else self._text(text)

    def _end(self, rest: str, *, closed: bool) -> Verdict:
        self.rest = rest
        for body in (*self._bodies, "".join(self._body)):
            if not body:
                continue
            try:
                self._parse(body, closed=closed)
            except BadCall as bad:
                if not closed and self._lexer.depth and self._between is None:
                    self.truncated = True
                else:
                    self.bad.append(bad)
            # Only a name that is known makes it one.
            named = [*(call.name for call in self.calls), *(bad.name for bad in self.bad)]
            if not all(name in self._tools for name in named):
                return self._text(rest)
        return "call"

    def finish(self, *, stopped: bool) -> Verdict:
        verdict = self._go_on(final=True)
        if verdict != "open":
            return verdict
        if self._between and not half_marker_at(self._between, 0):
            return self._followed(self._between)
        return self._end("", closed=False) if stopped else self._cut()


class Keyed(Held):
    """A tool's name and ``key: value`` lines, which have to be the whole output."""

    def __init__(self, tools: KnownTools) -> None:
        super().__init__(tools)
        self._name = ""
        self._lines: list[str] = []
        self._line: list[str] = []
        self._accepted = False
        self._pending = ""

    def _take(self, text: str) -> Verdict:
        self._pending += text
        while (match := _BREAK.search(self._pending)) is not None:
            at = match.start()
            if match[0] == "\n":
                self._keep(at)
                if not self._accepts(complete=True):
                    return self._no_call()
                self._lines.append("".join(self._line))
                self._name = self._tools.resolve(self._lines[0])
                self._line, self._accepted = [], False
                self._pending = self._pending[1:]
                continue
            marker = marker_at(self._pending, at)
            if marker in (*CALLS, *THOUGHTS):
                return self._no_call()
            if marker in STOPS or marker in CALL_ENDS:
                self._keep(at)
                return self._end(self._pending if marker in STOPS else self._pending[len(marker) :])
            if half_marker_at(self._pending, at):
                self._keep(at)
                return "open" if self._accepts(complete=False) else self._no_call()
            self._keep(at + 1)
        self._keep(len(self._pending))
        return "open" if self._accepts(complete=False) else self._no_call()

    def _keep(self, size: int) -> None:
        self._line.append(self._pending[:size])
        self._pending = self._pending[size:]

    def _accepts(self, *, complete: bool) -> bool:
        """Whether the line so far fits; once it has its key, the rest of it may be anything."""
        if not self._lines or self._accepted:
            return True
        line = "".join(self._line)
        if not could_be_line(self._name, line, self._tools, complete=complete):
            return False
        self._accepted = ":" in line or "=" in line
        return True

    def _no_call(self) -> Verdict:
        return self._text("".join(self._line) + self._pending)

    def _end(self, rest: str) -> Verdict:
        self.rest = rest
        if not self._accepts(complete=True):
            return self._no_call()
        try:
            self.calls.append(parse_keyed("\n".join([*self._lines, "".join(self._line)]), self._tools))
        except BadCall:
            return self._no_call()
        return "call"

    def finish(self, *, stopped: bool) -> Verdict:
        verdict = self._end("")
        if verdict == "text" or stopped:
            return verdict
        self.calls.clear()
        return self._cut()
