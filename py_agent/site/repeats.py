"""What stands more than once: manuals on one page, and lines that most pages carry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from py_agent.site.chunk import Piece

#: A page that holds at least this many other pages, each for at least this share of its passages, is a collection of
#: them (the manual on one page): every answer would be found twice, once at the worse place.
COLLECTION_MIN_PAGES = 3
COLLECTION_SHARE = 0.9
#: Shorter passages are alike by chance ("Returns: a string") and prove no repetition.
COLLECTION_MIN_CHARS = 80
#: A passage on more pages than this is a template's, and proves no repetition either.
COLLECTION_MAX_PLACES = 50
#: A paragraph on at least this share of a site's pages is dressing, whatever element it stands in ...
DRESSING_SHARE = 0.75
#: ... if the site has so many pages that this is no chance,
DRESSING_MIN_PAGES = 20
#: ... and the paragraph so many words that it is no label ("Parameters"), and so few letters that it is no chapter.
DRESSING_MIN_WORDS = 4
DRESSING_MAX_CHARS = 400


def collections(pages: Sequence[list[Piece]], same: Callable[[int, int], bool]) -> dict[int, int]:
    """The pages that repeat others: page number to the number of pages it repeats.

    Args:
        pages: The pages' passages.
        same: Whether two pages are one in different versions or languages, which is no repetition.
    """
    texts = [{key for piece in pieces if (key := _repeatable(piece))} for pieces in pages]
    places: dict[str, list[int]] = defaultdict(list)
    for number, found in enumerate(texts):
        for text in found:
            places[text].append(number)
    repeated: dict[int, int] = {}
    for number, own in enumerate(texts):
        known = [places[text] for text in own if 1 < len(places[text]) <= COLLECTION_MAX_PLACES]
        shared = Counter(other for where in known for other in where if other != number)
        parts = [
            other
            for other, count in shared.items()
            if count >= COLLECTION_SHARE * len(texts[other])
            and len(texts[other]) < len(own)
            and not same(number, other)
        ]
        if len(parts) >= COLLECTION_MIN_PAGES and sum(len(texts[one]) for one in parts) >= len(own) / 2:
            repeated[number] = len(parts)
    return repeated


def _repeatable(piece: Piece) -> str:
    return " ".join(piece.text.split()) if len(piece.text) >= COLLECTION_MIN_CHARS else ""


def dressing(pages: Sequence[list[Piece]]) -> set[str]:
    """Paragraphs that most pages carry: banners, trails and notices that no markup tells from the text."""
    if len(pages) < DRESSING_MIN_PAGES:
        return set()
    counted: Counter[str] = Counter()
    for pieces in pages:
        counted.update({part for piece in pieces for part, code in _paragraphs(piece.text) if not code and _fits(part)})
    return {text for text, count in counted.items() if count >= DRESSING_SHARE * len(pages)}


def _fits(text: str) -> bool:
    return len(text) <= DRESSING_MAX_CHARS and len(text.split()) >= DRESSING_MIN_WORDS


def undressed(pieces: list[Piece], drop: set[str]) -> list[Piece]:
    """The passages without the paragraphs ``drop``."""
    kept = []
    for piece in pieces:
        if any(text in piece.text for text in drop):
            parts = [part for part, code in _paragraphs(piece.text) if code or part not in drop]
            piece = replace(piece, text="\n\n".join(parts))
        if piece.text:
            kept.append(piece)
    return kept


def _paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """The paragraphs of a passage, and whether each holds code."""
    lines: list[str] = []
    fence, code = "", False
    for line in text.split("\n"):
        if not fence and line.startswith("```"):
            fence, code = line[: len(line) - len(line.lstrip("`"))], True
        elif fence and line == fence:
            fence = ""
        if not line and not fence:
            if lines:
                yield "\n".join(lines), code
            lines, code = [], False
        else:
            lines.append(line)
    if lines:
        yield "\n".join(lines), code
