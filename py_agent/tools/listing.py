"""Writes passages as the model reads them, and remembers which lines are whose."""

from __future__ import annotations

import re
from collections.abc import Iterable

from py_agent.model.passage import Passage
from py_agent.model.tool import Span

#: A line that opens a passage: its short id, then where it stands.
HEADER = re.compile(r"^\[([\w.-]+)\] (.*)$")
#: Between the parts of a heading path.
PATH_SEPARATOR = " > "


def heading(passage: Passage) -> str:
    """Where a passage stands, on one line: title and headings, outermost first, and the page's version and language
    where the site has several."""
    parts = [passage.title, *(part for part in passage.path if part != passage.title)]
    place = PATH_SEPARATOR.join(" ".join(part.split()) for part in parts if part.strip())
    facets = ", ".join(f"{name} {value}" for name, value in sorted(passage.facets.items()))
    return f"{place} ({facets})" if facets else place


def list_passages(intro: str, passages: Iterable[Passage]) -> tuple[str, tuple[Span, ...]]:
    """``intro``, then each passage under a header line; and the lines of each passage's text."""
    lines = intro.split("\n")
    spans: list[Span] = []
    for passage in passages:
        lines += ["", f"[{passage.id}] {heading(passage)}"]
        # A line of a page that looks like a header would give its words to another passage.
        body = [f" {line}" if HEADER.match(line) else line for line in passage.text.split("\n")]
        spans.append(Span(passage=passage.id, start=len(lines), end=len(lines) + len(body)))
        lines += body
    return "\n".join(lines), tuple(spans)
