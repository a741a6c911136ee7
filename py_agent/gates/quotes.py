"""Looks a quote up in a passage, forgiving what typography and line breaks change and nothing else."""

from __future__ import annotations

import unicodedata

_SAME = {
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "\u00b4": "'",
    "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u2033": '"', "\u00ab": '"', "\u00bb": '"',
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-", "\u2212": "-",
}  # fmt: skip


def fold(text: str) -> tuple[str, list[int]]:
    """``text`` with one space for each run of white space and one form for each kind of quote and dash.

    White space behind ``<`` and ``[`` goes altogether: envelopes put one there to break control tokens.

    Returns:
        The folded text, and for each of its characters the index in ``text`` that it came from.
    """
    folded: list[str] = []
    origin: list[int] = []
    for index, char in enumerate(text):
        if char > "\x7f":
            if unicodedata.category(char) == "Cf":
                continue
            char = _SAME.get(char) or unicodedata.normalize("NFKC", char)
        if char.isspace():
            if folded and folded[-1] not in (" ", "<", "["):
                folded.append(" ")
                origin.append(index)
            continue
        folded.extend(char)
        origin.extend([index] * len(char))
    if folded and folded[-1] == " ":
        folded.pop()
        origin.pop()
    return "".join(folded), origin


def find_quote(quote: str, text: str) -> str | None:
    """The piece of ``text`` that ``quote`` quotes, as it stands there; None if it does not."""
    if not quote.strip():
        return None
    exact = quote.strip()
    if exact in text:
        # Most quotes are exact; folding a passage costs a millisecond, and several in a page.
        return exact
    wanted, _ = fold(quote)
    if not wanted:
        return None
    folded, origin = fold(text)
    at = folded.find(wanted)
    if at < 0:
        return None
    return text[origin[at] : origin[at + len(wanted) - 1] + 1]
