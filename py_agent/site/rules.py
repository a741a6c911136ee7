"""A site's own rules for the reader, from a TOML file, checked at the door."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from py_agent.model.errors import ConfigError
from py_agent.site.reading import Wishes

_TOP = ("content", "drop", "page")
_PAGE = ("match", "content", "drop", "skip", "facets")


@dataclass
class PageRule:
    """Rules for the files that a glob matches; ``*`` goes over slashes too."""

    match: str
    content: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    skip: bool = False
    facets: dict[str, str] = field(default_factory=dict)
    used: int = 0


@dataclass
class Rules:
    """All rules of a site. Without a file there are none."""

    content: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    pages: list[PageRule] = field(default_factory=list)

    def wishes(self, file: str) -> Wishes:
        """How to read ``file``: the last matching rule's ``content`` counts, every ``drop`` does."""
        content, drop = self.content, self.drop
        for rule in self._of(file):
            content = rule.content or content
            drop += rule.drop
        return Wishes(content, drop)

    def skipped(self, file: str) -> str:
        """The glob by which ``file`` is left out, or nothing."""
        return next((rule.match for rule in self._of(file) if rule.skip), "")

    def facets(self, file: str) -> dict[str, str]:
        """Facet values that the rules give to ``file``."""
        found: dict[str, str] = {}
        for rule in self._of(file):
            found |= rule.facets
        return found

    def _of(self, file: str) -> list[PageRule]:
        return [rule for rule in self.pages if fnmatchcase(file, rule.match)]

    def unused(self, files: Sequence[str]) -> list[str]:
        """Globs that match no file: most often a slip."""
        return [rule.match for rule in self.pages if not any(fnmatchcase(file, rule.match) for file in files)]


def read_rules(path: Path) -> Rules:
    """Reads a rules file.

    Raises:
        ConfigError: ``no_rules``: it cannot be read; ``bad_rules``: it is no TOML, has a key that does not exist, a
            value of another type, or a selector that is no CSS.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"The rules in {path} cannot be read ({error.strerror or error}).",
            hint="Give the path of a TOML file with --rules.",
            code="no_rules",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _bad(path, f"is no TOML: {error}", 'Write for example: drop = [".advert"]') from error
    _check_keys(path, "", data, _TOP)
    tables = data.get("page", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise _bad(path, "has `page` as something else than tables", "Begin each with a line [[page]].")
    pages = [_page_rule(path, number, table) for number, table in enumerate(tables, 1)]
    return Rules(_selectors(path, "content", data), _selectors(path, "drop", data), pages)


def _page_rule(path: Path, number: int, table: dict[str, Any]) -> PageRule:
    where = f"[[page]] number {number}: "
    _check_keys(path, where, table, _PAGE)
    match, skip, facets = table.get("match"), table.get("skip", False), table.get("facets", {})
    if not isinstance(match, str) or not match:
        raise _bad(path, f"{where}`match` is missing", 'Say which files it is for: match = "api/*"')
    if not isinstance(skip, bool):
        raise _bad(path, f"{where}`skip` is {skip!r}", "Write true or false.")
    if not isinstance(facets, dict) or not all(isinstance(value, str) for value in facets.values()):
        raise _bad(path, f"{where}`facets` are not names with texts", 'Write facets = { version = "2.0" }')
    content, drop = _selectors(path, "content", table, where), _selectors(path, "drop", table, where)
    return PageRule(match.removeprefix("/"), content, drop, skip, dict(facets))


def _check_keys(path: Path, where: str, table: dict[str, Any], known: Sequence[str]) -> None:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"Did you mean `{near[0]}`?" if near else f"There are: {', '.join(known)}."
            raise _bad(path, f"{where}`{key}` is no rule", hint)


def _selectors(path: Path, key: str, table: dict[str, Any], where: str = "") -> tuple[str, ...]:
    value = table.get(key, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(one, str) and one.strip() for one in values):
        raise _bad(path, f"{where}`{key}` is {value!r}", f'Write a CSS selector, or several: {key} = [".a", "#b"]')
    for one in values:
        try:
            LexborHTMLParser("<p>").css(one)
        except (SelectolaxError, ValueError) as error:
            raise _bad(
                path, f"{where}`{key}` has {one!r}, which is no CSS selector", "Write it as in a style sheet."
            ) from error
    return tuple(values)


def _bad(path: Path, what: str, hint: str) -> ConfigError:
    return ConfigError(
        f"The rules in {path}: {what}." if ":" in what else f"{path} {what}.", hint=hint, code="bad_rules"
    )
