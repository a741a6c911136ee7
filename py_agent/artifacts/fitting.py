"""Cuts a text to a number of tokens, and a listing to what one read may show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from py_agent.prompt.tokens import TokenCounter

#: Gives the event loop a turn if it is time (``runner/breathe.py``).
Breathe = Callable[[], Awaitable[None]]

#: Characters that one token holds at most, by assumption: no read looks at more text than this times its cap. A text
#: whose tokens are longer (long runs of spaces) makes shorter pages, never larger ones.
CHARS_PER_TOKEN_MOST = 8

#: What the harness's own words around a read take at most: line numbers, marks, and how to go on. Half of it is digits,
#: which a text of a hundred megabytes has many of. A test measures it.
FRAME_TOKENS = 140

#: A cut moves back to the last blank at most this part of the text, so that words stay whole.
_BACK_TO_A_BLANK = 0.2

#: Entries that are rendered between two breaths.
_ENTRIES_PER_BREATH = 16


def fit(text: str, max_tokens: int, count: TokenCounter) -> int:
    """How many characters of ``text`` fit ``max_tokens``; at least one, if there is one."""
    length = min(len(text), max_tokens * CHARS_PER_TOKEN_MOST)
    if count(text[:length]) <= max_tokens:
        return length
    low, high = 0, length  # low fits, high does not
    while high - low > max(1, length // 256):
        middle = (low + high) // 2
        if count(text[:middle]) <= max_tokens:
            low = middle
        else:
            high = middle
    if not low:
        return min(1, len(text))
    blank = max(text.rfind(" ", 0, low), text.rfind("\n", 0, low)) + 1
    if blank >= low * (1 - _BACK_TO_A_BLANK) and count(text[:blank]) <= max_tokens:
        return blank
    return low


def fits(text: str, max_tokens: int, count: TokenCounter) -> bool:
    """Whether the whole text fits ``max_tokens``."""
    return len(text) <= max_tokens * CHARS_PER_TOKEN_MOST and count(text) <= max_tokens


@dataclass(frozen=True)
class Listing:
    """Entries of a list that fit a read.

    Attributes:
        text: The entries, joined by line feeds; the last one may be cut.
        first, last: Numbers of the first and the last entry shown, counted from 1.
        next: Entry and character at which the next read begins; None: nothing is left.
    """

    text: str
    first: int
    last: int
    next: tuple[int, int] | None


async def listing(
    entries: Iterable[str | Iterable[str]],
    *,
    start: int,
    offset: int,
    max_tokens: int,
    count: TokenCounter,
    breathe: Breathe,
) -> Listing:
    """The entries from the ``start``-th on that fit ``max_tokens``.

    Args:
        entries: Entries from the ``start``-th on; one that may be long comes in pieces, and no more of them are taken
            than are shown.
        start: The number of the first entry, counted from 1.
        offset: Characters of the first entry that an earlier read has shown.
        max_tokens, count: The cap.
        breathe: Awaited between entries.
    """
    limit = max_tokens * CHARS_PER_TOKEN_MOST
    shown = ""
    number = start - 1
    for number, entry in enumerate(entries, start):
        if (number - start) % _ENTRIES_PER_BREATH == 0:
            await breathe()
        skip = offset if number == start else 0
        text = await _beginning(entry, skip, limit + 1, breathe)
        before = shown + "\n" if number > start else ""
        if fits(before + text, max_tokens, count):
            shown = before + text
            continue
        # An entry is torn only if it is too large for a read of its own, and there is room for a good part of it.
        if before and (fits(text, max_tokens, count) or count(shown) > max_tokens // 2):
            return Listing(shown, start, number - 1, (number, skip))
        length = fit(before + text, max_tokens, count) - len(before)
        if length <= 0:
            return Listing(shown, start, number - 1, (number, skip))
        return Listing(before + text[:length], start, number, (number, skip + length))
    return Listing(shown, start, number, None)


async def _beginning(entry: str | Iterable[str], skip: int, length: int, breathe: Breathe) -> str:
    """``length`` characters of an entry behind the first ``skip``, and no more of it than that."""
    if isinstance(entry, str):
        return entry[skip : skip + length]
    kept: list[str] = []
    have = 0
    for taken, piece in enumerate(entry):
        if taken % 1_000 == 0:
            await breathe()
        if skip >= len(piece):
            skip -= len(piece)
            continue
        kept.append(piece[skip:])
        have += len(piece) - skip
        skip = 0
        if have >= length:
            break
    return "".join(kept)[:length]
