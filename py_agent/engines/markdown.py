"""Writes quotes as Markdown that shows them as they are."""

from __future__ import annotations

import re

from py_agent.engines.quoting import Block, Quote

#: Characters of a heading in front of a quote.
MAX_HEADING = 60

_CODE_LIKE = re.compile(
    r"(?<![\w`])(--?[A-Za-z][\w-]*(?:=\S+?)?(?=[\s,.;:)]|$)|[A-Za-z][\w.]*\(\)|\w+(?:\.\w+)*_\w+(?:\(\))?|[A-Z][A-Z0-9]*_[A-Z0-9_]+)"
)
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")


def prose(text: str) -> str:
    """A sentence of a page: names as code, everything else with its Markdown signs escaped, on one line."""
    parts = _CODE_LIKE.split(" ".join(text.split()))
    return "".join(
        f"`{part}`" if index % 2 and "`" not in part else _SPECIAL.sub(r"\\\1", part)
        for index, part in enumerate(parts)
    )


def listing(block: Block) -> str:
    """A fenced block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", block.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{block.language}\n{block.text}\n{fence}"


def compose(quotes: list[Quote]) -> str:
    """The answer: the best quote as its lead, then the others under their headings."""
    lead, *others = quotes
    parts = [] if lead.is_listing else [_said(lead)]
    if lead.listing is not None:
        parts.append(listing(lead.listing))
    items: list[str] = []
    for quote in others:
        leaf = prose(_short(quote.passage.heading.rsplit(" > ", 1)[-1]))
        shown = quote.listing if quote.is_listing else None
        said = f" {_said(quote)}" if shown is None else f"\n\n{_indented(listing(shown))}"
        items.append(f"- **{leaf}:**{said}")
    if items:
        parts.append("\n".join(items))
    return "\n\n".join(parts)


def _said(quote: Quote) -> str:
    return prose(quote.text) + (" …" if quote.clipped else "")


def _short(heading: str) -> str:
    """A heading that is a whole signature, cut to its name and a few arguments."""
    if len(heading) <= MAX_HEADING:
        return heading
    return heading[:MAX_HEADING].rsplit(" ", 1)[0] + " …"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
