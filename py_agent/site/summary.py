"""What became of a site's files, in lines for a person: counts by reason, the files, and what to do about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from py_agent.site.read import Site

#: What each kind of reason is called, and what its owner can do; kinds without advice are as they should be.
KINDS: dict[str, tuple[str, str]] = {
    "links": ("only list links to other pages", ""),
    "collection": ("repeat other pages", ""),
    "built": ("are sources of pages that are indexed, or copies for language models", ""),
    "generator": ("belong to the generator", ""),
    "search": ("are search pages", ""),
    "error-page": ("are error pages", ""),
    "redirect": ("redirect to other pages", ""),
    "noindex": ("ask to be left out", "Remove their robots meta tag (or `draft:`) if they are to be found."),
    "robots": ("are forbidden by robots.txt", "Change robots.txt if they are to be found."),
    "duplicate": ("are other addresses of indexed pages", ""),
    "facet": ("belong to other versions or languages", ""),
    "rule": ("are left out by rules", ""),
    "empty": (
        "gave no text",
        "If a reader sees text there, scripts write it: index what the site looks like after a build that renders pages"
        " (prerendering), or name its main part with `content` in a --rules file.",
    ),
    "unreadable": ("could not be read", "See the reason of each."),
    "other": ("were left out", ""),
}
#: Kinds of warnings about files that are indexed, and what to do.
WARNINGS: dict[str, tuple[str, str]] = {
    "damaged": ("have a slip that costs text", "Mend the markup that is named: browsers lose the same text."),
    "place": ("could not be used", "Mend the file, or remove it."),
}


def summary(site: Site, most: int) -> Iterator[str]:
    """The lines of the summary.

    Args:
        site: What was read.
        most: How many files are named; the rest is counted.
    """
    for one in site.skipped[:most]:
        yield f"{'skipped' if one.lost else 'warning'}: {one.file}: {one.reason}"
    if len(site.skipped) > most:
        yield f"... and {len(site.skipped) - most} more (--verbose lists all)"
    for trouble in site.trouble:
        yield f"note: {trouble}"
    lost = Counter(one.kind for one in site.skipped if one.lost)
    if lost:
        yield f"Left out: {lost.total()} files."
        yield from _counted(lost, KINDS)
    warned = Counter(one.kind for one in site.skipped if not one.lost)
    if warned:
        yield f"Warnings: {warned.total()} files."
        yield from _counted(warned, WARNINGS)
    for name, values in sorted(site.facets.items()):
        told = ", ".join(f"{value} ({count})" for value, count in sorted(values.items()))
        yield f"Pages differ in {name}: {told}. --facet {name}=VALUE chooses."
    yield f"Files read: {site.fresh}; unchanged since an earlier build: {site.kept}."


def _counted(counted: Counter[str], kinds: dict[str, tuple[str, str]]) -> Iterator[str]:
    width = len(str(max(counted.values())))
    for kind, count in counted.most_common():
        what, advice = kinds.get(kind, (kind, ""))
        yield f"  {count:>{width}} {what}{'. ' + advice if advice else ''}"
