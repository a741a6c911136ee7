"""Stretches of an output that are a call, or may still become one: held back from the reader until that is certain."""

from __future__ import annotations

import re
from typing import Literal

from py_agent.model.prompt import CallSpec
from py_agent.prompt.calls import BadCall, parse_calls
from py_agent.prompt.markers import CALL_ENDS, CALLS, MARKERS, STOPS, THOUGHTS
from py_agent.prompt.parsers.json_call import MAX_HEAD, could_be_call
from py_agent.prompt.parsers.known import KnownTools
from py_agent.prompt.parsers.lexer import Lexer, Token

#: ``open``: more has to come; ``call``: it is over and leaves no text; ``text``: it is none, all of it is text.
Verdict = Literal["open", "call", "text"]

_ENDS_TURN = (*STOPS, *CALLS, *THOUGHTS)


class Held:
    """One such stretch.

    Attributes:
        calls, bad: The calls in it, and why others did not count, once the verdict is ``call``.
        truncated: It ended before the call did.
        plain: With the verdict ``text``: how much of ``text``, from its beginning, cannot begin another such stretch.
        suspect: With the verdict ``text``: it looked like a call to this tool, but could not be read.
        rest: With the verdict ``call``: what was fed and comes behind it.
        news: What the last ``feed`` added to the call's text, for the draft of an answer.
    """

    def __init__(self, tools: KnownTools) -> None:
        self.calls: list[CallSpec] = []
        self.bad: list[BadCall] = []
        self.truncated = False
        self.suspect: BadCall | None = None
        self.plain = 0
        self.rest = ""
        self.news = ""
        self._tools = tools
        self._all: list[str] = []

    @property
    def text(self) -> str:
        """All that was fed, for the verdict ``text``."""
        return "".join(self._all)

    def feed(self, text: str) -> Verdict:
        """Takes the next piece of the output."""
        self._all.append(text)
        self.news = ""
        return self._take(text)

    def finish(self, *, stopped: bool) -> Verdict:
        """The output is over. ``stopped``: the model ended it by itself; else it was cut, and an open call with it."""
        raise NotImplementedError

    def _take(self, text: str) -> Verdict:
        raise NotImplementedError

    def _parse(self, body: str, *, closed: bool) -> None:
        """Adds the calls in ``body``.

        Raises:
            BadCall: As ``parse_calls``.
        """
        for found in parse_calls(body, self._tools, closed=closed):
            if isinstance(found, BadCall):
                self.bad.append(found)
            else:
                self.calls.append(found)

    def _text(self, behind: str = "") -> Verdict:
        """It is text; what may begin anew is ``behind``, the end of what was fed."""
        self.plain = max(1, sum(map(len, self._all)) - len(behind))
        return "text"

    def _cut(self, rest: str = "") -> Verdict:
        self.truncated = True
        self.rest = rest
        return "call"


class Wrapped(Held):
    """A call between markers: whatever stands there is meant as one."""

    def __init__(self, tools: KnownTools) -> None:
        super().__init__(tools)
        self._lexer = Lexer(MARKERS)
        self._body: list[str] = []
        self._string = 0

    def _take(self, text: str) -> Verdict:
        self._lexer.feed(text)
        return self._read(final=False)

    def _read(self, *, final: bool) -> Verdict:
        start = len(self._body)
        for kind, part in self._lexer.tokens(final=final):
            if kind == "quote":
                self._string = len(self._body)
            if kind != "marker":
                self._body.append(part)
                continue
            self.news = "".join(self._body[start:])
            if part in CALL_ENDS:
                return self._close(self._lexer.rest, closed=True)
            if part in _ENDS_TURN:
                return self._close(part + self._lexer.rest, closed=False)
        self.news = "".join(self._body[start:])
        return "open"

    def finish(self, *, stopped: bool) -> Verdict:
        verdict = self._read(final=True)
        if verdict != "open":
            return verdict
        if not stopped:
            return self._cut()
        if self._lexer.quote:
            # A string that nobody closed has swallowed the end of the call, and what the model said behind it.
            string = "".join(self._body[self._string :])
            ends = [(string.find(end), end) for end in CALL_ENDS if end in string]
            if ends:
                at, end = min(ends)
                self._body[self._string :] = [string[:at]]
                return self._close(string[at + len(end) :], closed=True)
        return self._close("", closed=False)

    def _close(self, rest: str, *, closed: bool) -> Verdict:
        self.rest = rest
        try:
            self._parse("".join(self._body), closed=closed)
        except BadCall as bad:
            if not closed and (self._lexer.depth or self._lexer.quote):
                return self._cut(rest)
            self.bad.append(bad)
        return "call"


class Fence(Held):
    """A fence that may carry calls: one for ``tool_code``, or a JSON or plain one that holds one JSON call only.

    Args:
        tools: What is known of the tools.
        opener: The line that opened it, with its newline.
        run: The backticks of that line.
        code: Whether the fence is for ``tool_code``.
    """

    def __init__(self, tools: KnownTools, opener: str, run: str, *, code: bool) -> None:
        super().__init__(tools)
        self._all.append(opener)
        self._code = code
        self._closing = re.compile(rf" {{0,3}}`{{{len(run)},}}[ \t]*(?=[\n<]|\r\n)")
        self._closing_half = re.compile(r" {0,3}`*[ \t]*\r?")
        self._lexer = Lexer(MARKERS)
        self._pending = ""
        self._line_start = True
        self._body: list[str] = []
        self._told = 0
        # None: it is not known yet whether the content can be a call.
        self._viable: bool | None = True if code else None
        self._complete = False
        # What stands in front of and behind a line that would close the fence if it did not stand in a string.
        self._split: tuple[int, int] | None = None

    def _take(self, text: str) -> Verdict:
        self._pending += text
        while self._pending:
            if self._line_start:
                match = self._closing.match(self._pending)
                if match is not None and not self._lexer.quote:
                    return self._end(self._pending[match.end() :], closed=True)
                if match is None and self._closing_half.fullmatch(self._pending):
                    break
                if match is not None and self._split is None:
                    behind = len(self.text) - len(self._pending) + match.end()
                    self._split = len(self._body), behind
            end = self._pending.find("\n") + 1
            line = self._pending[:end] if end else self._pending
            self._pending = self._pending[len(line) :]
            self._line_start = end > 0
            verdict = self._read(line, final=False)
            if verdict != "open":
                return verdict
        self._tell()
        return "open"

    def _read(self, line: str, *, final: bool) -> Verdict:
        self._lexer.feed(line)
        for token in self._lexer.tokens(final=final):
            kind, part = token
            if kind == "marker":
                if part in STOPS:
                    return self._end(part + self._lexer.rest + self._pending, closed=False)
                if not self._code and part in (*CALLS, *THOUGHTS):
                    return self._no_call()
                continue
            self._body.append(part)
            if not self._code and not self._fits(token):
                return self._no_call()
        return "open"

    def _fits(self, token: Token) -> bool:
        """Whether the content can still be one JSON call."""
        kind, part = token
        if self._complete and part.strip():
            return False
        if kind == "close" and self._lexer.depth == 0:
            self._complete = True
        if self._viable is None:
            text = "".join(self._body).lstrip()
            if not text:
                return sum(map(len, self._body)) < MAX_HEAD
            self._viable = could_be_call(text, self._tools) if text[0] == "{" else False
        return self._viable is not False

    def _tell(self) -> None:
        if self._viable:
            self.news = "".join(self._body[self._told :])
            self._told = len(self._body)

    def _end(self, rest: str, *, closed: bool) -> Verdict:
        self._tell()
        self.rest = rest
        body = "".join(self._body)
        balanced = not self._lexer.depth and not self._lexer.quote
        try:
            self._parse(body.strip(), closed=closed)
        except BadCall as bad:
            if not closed and not balanced and (self._code or self._viable):
                return self._cut(rest)
            if self._code and bad.name:
                self.bad.append(bad)
                return "call"
            self.suspect = bad if bad.name in self._tools else None
            return self._no_call()
        if not self._code and not all(call.name in self._tools for call in self.calls):
            return self._no_call()
        return "call"

    def _no_call(self) -> Verdict:
        # Behind the line that opens it everything stands in the fence.
        self.plain = 1
        return "text"

    def finish(self, *, stopped: bool) -> Verdict:
        if self._line_start and self._closing.match(self._pending + "\n") and not self._lexer.quote:
            return self._end("", closed=True)
        verdict = self._read(self._pending, final=True)
        self._pending = ""
        if verdict != "open":
            return verdict
        if self._lexer.quote and self._split is not None:
            rest = self.text[self._split[1] :]
            del self._body[self._split[0] :]
            return self._end(rest, closed=True)
        if not self._viable or not "".join(self._body).strip():
            return self._no_call()
        return self._end("", closed=False) if stopped else self._cut()
