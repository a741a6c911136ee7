"""Versions and languages of a site, from its folders and from what its pages say."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from py_agent.model.errors import ConfigError

VERSION = "version"
LANGUAGE = "language"
_NUMBER = re.compile(
    r"^(?:v|version-|release-)?(\d+(?:\.(?:\d+|x))*)(?:[-.]?(?:rc|alpha|beta|dev|lts)\.?\d*)?$", re.IGNORECASE
)
_SURE = re.compile(r"^(?:v|version-|release-)\d|^\d+\.", re.IGNORECASE)
_LANGUAGE = re.compile(r"^[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?$")
#: Folders that are versions by name, the best first for a reader who names none.
NAMED_VERSIONS = (
    "latest",
    "stable",
    "current",
    "main",
    "master",
    "dev",
    "devel",
    "next",
    "nightly",
    "edge",
    "unstable",
)
#: So many folders of versions, or of languages, stand side by side at least: one alone is a folder like any other.
MIN_SIBLINGS = 2


class Layout:
    """Which folders of a site are versions or languages.

    Args:
        languages: ``<html lang>`` of each page, by its file.
    """

    def __init__(self, languages: Mapping[str, str]) -> None:
        below: dict[str, set[str]] = defaultdict(set)
        spoken: dict[str, Counter[str]] = defaultdict(Counter)
        for file, language in languages.items():
            parts = PurePosixPath(file).parts[:-1]
            for depth, name in enumerate(parts):
                parent = "/".join(parts[:depth])
                below[parent].add(name)
                if language:
                    spoken["/".join(parts[: depth + 1])][_primary(language)] += 1
        self._versions = {parent: found for parent, names in below.items() if (found := _versions(names))}
        self._languages = {
            parent: found for parent, names in below.items() if (found := _languages(parent, names, spoken))
        }
        self._files = set(languages)

    def facets(self, file: str, language: str) -> dict[str, str]:
        """The version and the language of a page, as far as it has any."""
        found: dict[str, str] = {}
        parts = PurePosixPath(file).parts
        for depth, name in enumerate(parts[:-1]):
            parent = "/".join(parts[:depth])
            if name in self._versions.get(parent, ()) and VERSION not in found:
                found[VERSION] = name
            if name in self._languages.get(parent, ()) and LANGUAGE not in found:
                found[LANGUAGE] = name.replace("_", "-").lower()
        if VERSION not in found and (version := self._beside(file)):
            found[VERSION] = version
        if LANGUAGE not in found and language:
            found[LANGUAGE] = language.lower()
        return found

    def bare(self, file: str) -> str:
        """The file's name without the folders that tell version and language: the same page in all of them."""
        parts = PurePosixPath(file).parts
        kept = [
            name
            for depth, name in enumerate(parts)
            if name not in self._versions.get("/".join(parts[:depth]), ())
            and name not in self._languages.get("/".join(parts[:depth]), ())
        ]
        return "/".join(kept)

    def _beside(self, file: str) -> str:
        """A page beside the folders of versions is the newest one, if an older version has the same page."""
        for parent, versions in self._versions.items():
            prefix = f"{parent}/" if parent else ""
            if file.startswith(prefix) and any(
                f"{prefix}{one}/{file[len(prefix) :]}" in self._files for one in versions
            ):
                return "" if "latest" in versions else "latest"
        return ""


def _primary(language: str) -> str:
    return re.split("[-_]", language.lower())[0]


def _versions(names: Iterable[str]) -> set[str]:
    found = {name for name in names if _NUMBER.match(name) or name.lower() in NAMED_VERSIONS}
    # Folders that are only numbered are chapters; a dot, a "v" or the name of a version makes them versions.
    sure = any(_SURE.match(name) or name.lower() in ("latest", "stable") for name in found)
    return found if len(found) >= MIN_SIBLINGS and sure else set()


def _languages(parent: str, names: Iterable[str], spoken: Mapping[str, Counter[str]]) -> set[str]:
    """Folders with the name of a language whose pages say that they are in it."""
    prefix = f"{parent}/" if parent else ""
    found = {name for name in names if _LANGUAGE.match(name) and spoken[prefix + name][_primary(name)]}
    return found if len(found) >= MIN_SIBLINGS else set()


def order(version: str) -> tuple[int, tuple[int, ...]]:
    """For sorting versions: named ones by how a reader would choose, after them the highest number."""
    if version.lower() in NAMED_VERSIONS[:3]:
        return 2, (-NAMED_VERSIONS.index(version.lower()),)
    number = _NUMBER.match(version)
    if number is None:
        return 0, ()
    return 1, tuple(int(part) if part.isdigit() else 0 for part in number[1].split("."))


def useful(facets: Sequence[dict[str, str]]) -> dict[str, Counter[str]]:
    """The facets that tell pages apart, with how many pages have each value."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for one in facets:
        for name, value in one.items():
            values[name][value] += 1
    return {name: counted for name, counted in values.items() if len(counted) > 1}


def chosen(name: str, value: str, known: Mapping[str, Counter[str]]) -> str:
    """The value that ``--facet name=value`` means; ``version=latest`` is the highest where no version is called so.

    Raises:
        ConfigError: ``bad_facet``: the site has no such facet, or no such value of it.
    """
    values = known.get(name)
    if values is None:
        there = ", ".join(sorted(known)) or "none"
        raise ConfigError(
            f"No pages of this site differ in the facet {name!r}.",
            hint=f"Facets of this site: {there}.",
            code="bad_facet",
        )
    wanted = {one.lower(): one for one in values}
    if value.lower() in wanted:
        return wanted[value.lower()]
    if name == VERSION and value.lower() == "latest":
        return max(values, key=order)
    raise ConfigError(
        f"The site has no {name} {value!r}.", hint=f"It has: {', '.join(sorted(values))}.", code="bad_facet"
    )
