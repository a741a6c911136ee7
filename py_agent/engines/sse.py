"""Server-sent events, as the HTML standard defines them: lines of ``field: value``, an empty line ends an event."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator

#: Characters of one event at most: a server that sends more without an end is none of ours.
MAX_EVENT_CHARS = 1_000_000


class EventTooLong(ValueError):
    """An event has no end."""


async def events(body: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The ``data`` of each event. Pieces may be cut anywhere, also inside a character.

    Raises:
        EventTooLong: An event is longer than ``MAX_EVENT_CHARS``.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pending = ""
    waiting: list[str] = []  # of a line without an end: joined once it has one, or pieces of a byte would take for ever
    waits = 0
    data: list[str] = []
    size = 0
    first = True
    async for piece in body:
        text = decoder.decode(piece)
        waiting.append(text)
        waits += len(text)
        if len(pending) + waits + size > MAX_EVENT_CHARS:
            raise EventTooLong
        if not pending.endswith("\r") and "\n" not in text and "\r" not in text:
            continue
        pending += "".join(waiting)
        waiting, waits = [], 0
        if first and pending:
            pending, first = pending.removeprefix("\ufeff"), False
        # A carriage return at the very end may be the first half of a line end.
        held = "\r" if pending.endswith("\r") else ""
        lines = (pending[:-1] if held else pending).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        pending = lines.pop() + held
        for line in lines:
            if not line:
                if data:
                    yield "\n".join(data)
                data, size = [], 0
            elif line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
                size += len(line)
    if pending == "\r" and not waits and data:
        yield "\n".join(data)
    # What has no empty line behind it is no event: the stream was cut in it.
