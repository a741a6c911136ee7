"""The five kinds of a broken database file of case S03, made from the bytes of a good one."""

from __future__ import annotations

PAGE = 4096

#: The header's two bytes that name the journal: 1 is the rollback journal, 2 the write-ahead log.
_JOURNAL = slice(18, 20)


def damaged(kind: str, good: bytes) -> bytes:
    """``good`` with one kind of damage.

    Args:
        kind: ``not_a_db``, ``zero``, ``truncated``, ``damaged_page`` or ``wal_header``.
        good: A database without a log.
    """
    if kind == "zero":
        return b""
    if kind == "not_a_db":
        return b"This is no database. " * (len(good) // 21)
    if kind == "truncated":
        return good[: len(good) // 2]
    broken = bytearray(good)
    if kind == "wal_header":
        broken[_JOURNAL] = b"\2\2"
        return bytes(broken)
    assert kind == "damaged_page"
    # The page of table rows that holds the word: its header, and half of what follows.
    page = good.index(WORD) // PAGE
    broken[page * PAGE : page * PAGE + PAGE // 2] = bytes(number % 251 for number in range(PAGE // 2))
    return bytes(broken)


#: Stands in an answer of the good file, and in no title.
WORD = b"Am Meer-0. "

KINDS = ("not_a_db", "zero", "truncated", "damaged_page", "wal_header")
