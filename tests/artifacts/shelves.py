"""Shelves with artifacts on them, for the tests of this room."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from py_agent.artifacts.readers import readers
from py_agent.artifacts.shelf import Shelf
from py_agent.model.tool import ResultKind, Tool, ToolResult
from py_agent.prompt.tokens import estimate_tokens
from py_agent.runner.breathe import Breather
from py_agent.storage.base import Spool
from py_agent.storage.spool import MemorySpool

#: Paths that would take minutes on a megabyte.
HOSTILE_PATHS = [
    "$..*..*..*..*",
    "$..[?@..[?@..[?@..*]]]",
    "$[*,*,*,*][*,*,*,*]..*..*",
    "$..[?count(@..*) > 100000]",
    "$..[?@ == 'x']..z",
    "$..[?count($..*) < 0]",
    "$[::1]..[::1]..[::1]",
]

KINDS: tuple[ResultKind, ...] = ("text", "json", "markdown")


def shelf_of(spool: Spool | None = None, **limits: int) -> Shelf:
    """A shelf whose readers are declared for every kind of result."""
    limits = {"inline_tokens": 50, "reader_tokens": 180, **limits}
    shelf = Shelf(
        spool or MemorySpool(),
        "turns/t/",
        count=estimate_tokens,
        nonce=lambda: "0a1b2c3d",
        breathe=Breather(50),
        **limits,
    )
    readers(shelf, KINDS)
    return shelf


async def kept(text: str, kind: ResultKind = "text", **limits: int) -> Shelf:
    """A shelf that keeps ``text`` as ``c1``."""
    shelf = shelf_of(**{"inline_tokens": 0, **limits})
    await shelf.take("c1", "tool", ToolResult(text=text, kind=kind))
    return shelf


def tool_of(shelf: Shelf, name: str) -> Tool:
    """One reader of the shelf."""
    return next(tool for tool in readers(shelf, KINDS) if tool.name == name)


async def call(shelf: Shelf, reader: str, **arguments: Any) -> str:
    """What a reader shows of ``c1``."""
    tool = tool_of(shelf, reader)
    result = await tool.handler(tool.parse({"call_id": "c1", **arguments}), None)
    return str(result.text)


def body(shown: str, reader: str) -> str:
    """The data in a reader's answer."""
    return shown.split(f"[{reader} 0a1b2c3d]\n", 1)[1].split(f"\n[/{reader} 0a1b2c3d]", 1)[0]


async def stream_of(*pieces: str) -> AsyncIterator[str]:
    """A stream of these pieces."""
    for piece in pieces:
        yield piece
