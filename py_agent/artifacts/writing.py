"""Writes a text into the spool piece by piece, and notes where its blocks begin."""

from __future__ import annotations

import contextlib
from array import array
from bisect import bisect_right

from py_agent.artifacts.fitting import Breathe
from py_agent.model.errors import StorageError
from py_agent.storage.base import Spool

#: Characters of one block: what is read and decoded at once, and one entry of the index. 100 MB of text have 1,600
#: blocks, whose index takes 40 kB.
BLOCK_CHARS = 65_536

#: Bytes of one write. To open, write, flush and close a file of the browser's takes 1.6 ms however much is written.
WRITE_BYTES = 262_144


class BlockIndex:
    """Where each block of a text begins: its byte, its line, and its character in that line, all counted from 0."""

    def __init__(self) -> None:
        self.bytes = array("Q")
        self.lines = array("Q")
        self.columns = array("Q")

    def __len__(self) -> int:
        return len(self.bytes)

    def add(self, byte: int, line: int, column: int) -> None:
        """Notes the next block."""
        self.bytes.append(byte)
        self.lines.append(line)
        self.columns.append(column)

    def find(self, line: int, column: int) -> int:
        """The block in which this place lies; the last one for places behind the end."""
        blocks = range(len(self))
        return max(bisect_right(blocks, (line, column), key=lambda at: (self.lines[at], self.columns[at])) - 1, 0)

    def end(self, block: int, size: int) -> int:
        """The byte behind a block of a text of ``size`` bytes."""
        return self.bytes[block + 1] if block + 1 < len(self) else size


class TextWriter:
    """Takes a text in pieces of any size.

    Args:
        spool: Where it goes.
        key: Under which name; what stands there is replaced.
        breathe: Awaited between blocks.

    Attributes:
        index: The blocks written so far.
        size: Bytes so far.
        lines: Lines so far; complete once ``close`` was awaited. A last line feed ends a line and begins none.
    """

    def __init__(self, spool: Spool, key: str, breathe: Breathe) -> None:
        self.key = key
        self.index = BlockIndex()
        self.size = 0
        self.lines = 0
        self._spool = spool
        self._breathe = breathe
        self._column = 0
        self._buffer = ""
        self._high = ""
        self._pending = bytearray()
        self._begun = False

    async def add(self, piece: str) -> None:
        """Takes the next piece.

        Raises:
            StorageError: The spool refused; what was written is emptied.
        """
        for at in range(0, len(piece), BLOCK_CHARS):
            self._buffer += self._whole(piece[at : at + BLOCK_CHARS])
            while len(self._buffer) >= BLOCK_CHARS:
                # A block ends with a line, unless its line is as long as half a block.
                cut = self._buffer.rfind("\n", BLOCK_CHARS // 2, BLOCK_CHARS) + 1 or BLOCK_CHARS
                block, self._buffer = self._buffer[:cut], self._buffer[cut:]
                await self._block(block)

    async def close(self) -> None:
        """Writes what is left.

        Raises:
            StorageError: As ``add``.
        """
        rest = self._buffer + ("\ufffd" if self._high else "")
        if rest:
            await self._block(rest)
        if self._column:
            self.lines += 1
        await self._flush()

    def _whole(self, piece: str) -> str:
        """``piece`` without halves of surrogate pairs, which no encoding has; a pair that was cut is joined."""
        piece = self._high + piece
        self._high = piece[-1] if piece and "\ud800" <= piece[-1] <= "\udbff" else ""
        return whole(piece[: len(piece) - len(self._high)])

    async def _block(self, text: str) -> None:
        self.index.add(self.size, self.lines, self._column)
        raw = text.encode()
        self.size += len(raw)
        feeds = text.count("\n")
        self.lines += feeds
        self._column = len(text) - text.rfind("\n") - 1 + (0 if feeds else self._column)
        self._pending += raw
        if len(self._pending) >= WRITE_BYTES:
            await self._flush()
        await self._breathe()

    async def _flush(self) -> None:
        raw = bytes(self._pending)
        self._pending.clear()
        try:
            if self._begun:
                if raw:
                    await self._spool.append(self.key, raw)
            else:
                await self._spool.write(self.key, raw)
        except StorageError:
            await self.discard()
            raise
        self._begun = True

    async def discard(self) -> None:
        """Empties what was written: half a result must not be read as a whole one."""
        if self._begun:
            with contextlib.suppress(StorageError):  # the sweep of the turn takes it then
                await self._spool.write(self.key, b"")


def whole(text: str) -> str:
    """``text`` with the halves of surrogate pairs in it joined, or replaced where one stands alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
