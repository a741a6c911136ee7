"""What a spool does, wherever its bytes lie: plain functions that run in pytest, and in Pyodide over the page's.

Each gets a fresh spool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from py_agent.storage.base import Spool


async def ranges_are_read_and_a_second_write_replaces(spool: Spool) -> None:
    await spool.write("turn/1/a", b"0123456789")
    await spool.write("turn/1/a", b"abcdef")
    await spool.write("turn/1/b", b"")
    await spool.write("turn/2/a", bytes(range(256)) * 4096)
    assert await spool.read("turn/1/a") == b"abcdef"
    assert await spool.read("turn/1/a", 2, 4) == b"cd"
    assert await spool.read("turn/1/a", 4, 99) == b"ef"
    assert await spool.read("turn/1/a", 99) == b""
    assert await spool.read("turn/1/a", 3, 3) == await spool.read("turn/1/a", 4, 3) == b""
    assert await spool.size("turn/1/b") == 0
    assert await spool.read("turn/1/b") == b""
    assert await spool.read("turn/2/a", 256, 512) == bytes(range(256))
    assert await spool.size("turn/2/a") == 256 * 4096


async def a_key_that_is_missing_is_named(spool: Spool) -> None:
    await spool.write("there", b"x")
    await spool.delete("there")
    for missing in ("there", "never", "x" * 500):
        for work in (spool.read(missing), spool.size(missing)):
            try:
                await work
            except KeyError as error:
                assert error.args == (missing,)
            else:
                raise AssertionError(missing)


async def appends_come_one_after_the_other(spool: Spool) -> None:
    await asyncio.gather(*(spool.append("trace", f"line {number}\n".encode()) for number in range(50)))
    assert await spool.read("trace") == b"".join(f"line {number}\n".encode() for number in range(50))
    await spool.write("written", b"first ")
    await spool.append("written", b"second")
    await spool.append("written", b"")
    assert await spool.read("written") == b"first second"
    assert await spool.size("written") == 12
    await spool.write("written", b"new")
    assert await spool.read("written") == b"new"


async def every_key_below_a_prefix_is_deleted_and_no_other(spool: Spool) -> None:
    turns = [f"turns/{number:032x}/" for number in range(3)]
    for turn in turns:
        for call in ("call_0", "call_1", "x" * 200, ""):
            await spool.write(f"{turn}{call}", b"x")
    await spool.write("turns/", b"x")
    await spool.write("traces/t/1.jsonl", b"x")
    assert await spool.delete(turns[1]) == 4
    assert await spool.delete(turns[1]) == 0
    assert await spool.delete(f"{turns[0]}call_") == 2
    assert await spool.read(turns[0]) == await spool.read(f"{turns[2]}call_1") == b"x"
    assert await spool.delete("turns/" + "0" * 10) == 6
    assert await spool.delete("nothing/of/this/" * 20) == 0
    assert await spool.delete("turns") == 1
    assert await spool.delete("") == 1
    assert await spool.delete("") == 0


async def a_prefix_of_any_length_finds_its_key(spool: Spool) -> None:
    key = "turns/" + "ab🙂/" * 30
    for length in range(len(key) + 1):
        await spool.write(key, b"x")
        assert await spool.delete(key[:length]) == 1, length


async def no_key_is_taken_for_another(spool: Spool) -> None:
    for number, key in enumerate(KEYS):
        await spool.write(key, f"v{number}".encode())
    for number, key in enumerate(KEYS):
        assert await spool.read(key) == f"v{number}".encode(), key
        assert await spool.size(key) == len(f"v{number}"), key
    assert await spool.delete("") == len(KEYS)


#: Besides the keys of case S07: a key and one that it begins, device names with endings, lengths around the cuts of the
#: encoding, a lone surrogate.
KEYS = [
    *("turn/1/call/0", "a/../b", "..", ".", "", "CON", "nul.txt", "name ", "name.", "a:b", "a\\b", "a%2Fb", "A", "a"),
    *("\u00c4", "A\u0308", "🙂", "x" * 300, "x" * 301, "call-1.json", "call_1.json", "\u0000zero", "-rf", "tab\there"),
    *("../../etc/passwd", "c1", "C1", "x", "xx", "a/b", "a/b/c", "a/", "/", "//", "con.", "COM1", "lpt9.log", "aux"),
    *("y" * length for length in (30, 31, 32, 62, 63)),
    *("\ud83d", "ß", "ss", "ı", "I", "ſ", "\ufeff", "~", "~1", "*", "?", "|", "<", ">", '"', " ", "  "),
]

ALL: tuple[Callable[[Spool], Awaitable[None]], ...] = (
    ranges_are_read_and_a_second_write_replaces,
    a_key_that_is_missing_is_named,
    appends_come_one_after_the_other,
    every_key_below_a_prefix_is_deleted_and_no_other,
    a_prefix_of_any_length_finds_its_key,
    no_key_is_taken_for_another,
)
