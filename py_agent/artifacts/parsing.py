"""Reads an artifact as JSON: strict JSON, a JSON value a line, or JSON5, in this order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

from py_agent.artifacts import json5
from py_agent.artifacts.fitting import Breathe

#: Bytes of a text that is read as JSON at most. It stands in memory as a whole then, as text and as a structure that is
#: ten times as large. Time is no reason: 4 MB take 60 to 140 ms in a page.
JSON_PARSE_LIMIT = 4_000_000

#: Levels of brackets at most. Python's reader recurses for each, and in Pyodide the end of the stack is the end of the
#: whole interpreter, not an error; a few thousand levels are enough for that.
MAX_DEPTH = 100

#: Characters whose brackets are counted between two breaths.
_DEPTH_CHARS = 131_072

#: Lines that are read between two breaths.
_LINES_PER_BREATH = 200

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BEFORE_OPEN_STRING = re.compile(r'(?:[^"]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]+")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}

Format = Literal["json", "jsonl", "json5"]


class NotJson(ValueError):
    """The text is none of the three, or nests too deeply. The message says what is wrong."""


@dataclass(frozen=True)
class Document:
    """A JSON document.

    Attributes:
        format: How it is written.
        root: Its value; of ``jsonl`` the list of its lines' values.
    """

    format: Format
    root: Any

    @property
    def records(self) -> list[Any]:
        """The elements of a list, or the one value."""
        return self.root if isinstance(self.root, list) else [self.root]


async def parse(text: str, breathe: Breathe) -> Document:
    """Reads ``text``, of at most ``JSON_PARSE_LIMIT`` bytes.

    Raises:
        NotJson: It cannot be read.
    """
    await check_depth(text, breathe)
    try:
        return Document("json", loads(text))
    except NotJson as error:
        strict = error
    lines = await _lines(text, breathe)
    if lines is not None:
        return Document("jsonl", lines)
    if len(text) > json5.JSON5_LIMIT:
        raise strict
    try:
        plain = await json5.to_json(text, breathe)
        await check_depth(plain, breathe)
        return Document("json5", loads(plain))
    except NotJson:
        raise strict from None
    except ValueError:
        raise strict from None


def loads(text: str) -> Any:
    """The value of a strict JSON text that has passed ``check_depth``.

    Raises:
        NotJson: It is not.
    """
    try:
        return json.loads(text)
    except ValueError as error:  # a number of thousands of digits is one too
        raise NotJson(str(error)) from None


async def check_depth(text: str, breathe: Breathe) -> None:
    """Raises where brackets nest more than ``MAX_DEPTH`` deep, before a reader that recurses sees the text.

    As far as ``text`` is JSON, strings are known as a reader of JSON knows them; it stops where the text is not.

    Raises:
        NotJson: They do.
    """
    depth = 0
    rest = ""
    for at in range(0, len(text), _DEPTH_CHARS):
        part = rest + text[at : at + _DEPTH_CHARS]
        match = _BEFORE_OPEN_STRING.match(part)
        done = match.end() if match is not None else 0
        brackets = _NO_BRACKET.sub("", _STRING.sub("", part[:done]))
        rest = part[done:]
        levels = list(accumulate(map(_STEP.__getitem__, brackets), initial=depth))
        if max(levels) > MAX_DEPTH:
            raise NotJson(f"it nests more than {MAX_DEPTH} levels deep")
        depth = levels[-1]
        await breathe()


async def _lines(text: str, breathe: Breathe) -> list[Any] | None:
    """The values of the lines; None if some line is none, or if there is one line only."""
    values: list[Any] = []
    for number, line in enumerate(_split(text)):
        if number % _LINES_PER_BREATH == 0:
            await breathe()
        if not line.strip():
            continue
        try:
            values.append(loads(line))
        except NotJson:
            return None
    return values if len(values) > 1 else None


def _split(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        feed = text.find("\n", at)
        end = len(text) if feed < 0 else feed
        yield text[at:end]
        at = end + 1
