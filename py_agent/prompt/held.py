"""Text that is held back because it may be a call without marks: a fence, or the rest of the output."""

from __future__ import annotations

import re
from typing import Protocol

from py_agent.prompt.parsers.bare import BareCall
from py_agent.prompt.parsers.base import BadCall, Found, Tools
from py_agent.prompt.parsers.json_call import json_calls, may_begin_call
from py_agent.prompt.parsers.keyed import keyed_call
from py_agent.prompt.parsers.native import parse_call
from py_agent.prompt.parsers.python import python_calls

_NAME = re.compile(r"\w+")


class Held(Protocol):
    """What is held back."""

    text: str

    @property
    def is_call(self) -> bool:
        """Whether it was held because it is a call: where the token limit cuts it, it is dropped and not shown."""
        ...

    def feed(self, text: str) -> str | None:
        """Takes more. What stands behind the end of it, or None where the end has not come."""
        ...

    def calls(self, tools: Tools) -> Found | None:
        """The calls that it is; None where it is text."""
        ...


class HeldFence:
    """A fence whose info string lets it carry a call.

    Args:
        start: Its first line, with the line feed.
    """

    def __init__(self, start: str) -> None:
        line = start.strip()
        self._run = len(line) - len(line.lstrip("`"))
        self._kind = line[self._run :].strip().lower()
        self._start = len(start)
        self._at = len(start)
        self._end = -1
        self._sure = self._kind == "tool_code"
        self._close = re.compile(rf" {{0,3}}`{{{self._run},}}[ \t]*")
        self.text = start

    @property
    def is_call(self) -> bool:
        return self._sure

    def feed(self, text: str) -> str | None:
        self.text += text
        if not self._sure:
            verdict = may_begin_call(self.text[self._start : self._start + 200])
            if verdict is False:
                return ""
            self._sure = bool(verdict)
        while (end := self.text.find("\n", self._at)) >= 0:
            if self._close.fullmatch(self.text, self._at, end):
                self._end = self._at
                rest, self.text = self.text[end + 1 :], self.text[: end + 1]
                return rest
            self._at = end + 1
        return None

    def calls(self, tools: Tools) -> Found | None:
        end = self._end
        if end < 0:  # the output ended here: its last line may be the closing one
            end = self._at if self._close.fullmatch(self.text, self._at) else len(self.text)
        content = self.text[self._start : end]
        return python_calls(content, tools) if self._kind == "tool_code" else json_calls(content, tools)


class HeldRest:
    """The rest of the output, if all of it is one call as JSON, Python, ``NAME{...}`` or keyed lines.

    Args:
        start: The first characters.
        tools: What may be called.
    """

    def __init__(self, start: str, tools: Tools) -> None:
        self.text = start
        self._sure = False
        self._tools = tools
        first = start.lstrip()
        self._json = first[0] in "{["
        self._keyed = start.endswith("\n") and not self._json
        self._bare: BareCall | None = None if self._json or self._keyed else BareCall()
        self._behind = ""
        if self._bare is not None:
            self._bare.feed(start)

    def feed(self, text: str) -> str | None:
        self.text += text
        if self._json:
            if not self._sure:
                verdict = may_begin_call(self.text[:200])
                if verdict is False:
                    # A list of Python calls starts with a bracket, too.
                    verdict = self._list_of_calls()
                if verdict is False:
                    return ""
                self._sure = bool(verdict)
            return None
        self._sure = True
        if self._keyed:
            lines = self.text.split("\n")[1:-1]
            return "" if any(line.strip() and ":" not in line for line in lines) else None
        return self._brackets(text)

    @property
    def is_call(self) -> bool:
        return self._sure

    def _brackets(self, text: str) -> str | None:
        """Behind a closed call only white space and further calls may stand; anything else shows that it is prose."""
        while text:
            if self._bare is None:
                self._behind += text[0]
                text = text[1:]
                name = self._behind.lstrip()
                word = _NAME.match(name)
                if not name or (word and word.end() == len(name) and self._tools.may_begin(name)):
                    continue
                if word and word[0] in self._tools and name[word.end()] in "{(":
                    self._bare = BareCall()
                    self._bare.feed(name)
                    self._behind = ""
                    continue
                return ""
            rest = self._bare.feed(text)
            if rest is None:
                return None
            self._bare, text = None, rest
        return None

    def _list_of_calls(self) -> bool | None:
        inner = self.text.lstrip()
        if inner[0] != "[":
            return False
        name = inner[1:].lstrip()
        word = _NAME.match(name)
        if not name:
            return None
        if word is None:
            return False
        if word.end() == len(name):
            return None if self._tools.may_begin(name) else False
        return word[0] in self._tools and name[word.end()] == "("

    def calls(self, tools: Tools) -> Found | None:
        if self._json:
            return json_calls(self.text, tools) or python_calls(self.text, tools)
        if self._keyed:
            return keyed_call(self.text, tools)
        name = _NAME.match(self.text.lstrip())
        if name is not None and self.text.lstrip()[name.end()] == "{":
            try:
                return Found(calls=[parse_call(self.text.strip())])
            except BadCall:
                return None
        return python_calls(self.text, tools)
