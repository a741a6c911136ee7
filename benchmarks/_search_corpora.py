"""Six documentation sets that Debian ships, each by a generator of its own: what the search benchmark indexes."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from py_agent.model.errors import AgentError
from py_agent.site.bundle.cache import Cache, key_of
from py_agent.site.bundle.layout import Layout
from py_agent.site.bundle.run import run

#: Names a folder that holds the sets already, each under its name.
VARIABLE = "PY_AGENT_CORPORA"

#: Of each set: the package of Debian 12, and the folder of its pages.
PACKAGES = {
    "flask": ("python-flask-doc", "usr/share/doc/python-flask-doc/html"),
    "git": ("git-doc", "usr/share/doc/git-doc"),
    "nodejs": ("nodejs-doc", "usr/share/doc/nodejs/api"),
    "postgres": ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    "python": ("python3.11-doc", "usr/share/doc/python3.11/html"),
    "sqlite": ("sqlite3-doc", "usr/share/doc/sqlite3"),
}


class Corpus(NamedTuple):
    """A documentation set: its name, the package and version that it came with, and its pages' folder."""

    name: str
    package: str
    folder: Path


def find_corpora(root: Path) -> list[Corpus]:
    """The sets, from the folder that the variable names, or fetched once with apt and unpacked into ``build/cache``.

    Raises:
        AgentError: ``no_corpora``: one is missing, and cannot be fetched.
    """
    named = os.environ.get(VARIABLE)
    return [_named(Path(named), name) if named else _fetched(root, name) for name in sorted(PACKAGES)]


def _named(folder: Path, name: str) -> Corpus:
    package, _ = PACKAGES[name]
    pages = (folder / name).resolve()
    if not pages.is_dir():
        raise AgentError(
            f"{VARIABLE} names {folder}, which has no folder {name!r}.",
            hint=f"Unpack {package} there, or unset the variable: then the packages are fetched with apt-get.",
            code="no_corpora",
        )
    for parent in pages.parents:
        log = parent / "usr" / "share" / "doc" / package / "changelog.Debian.gz"
        if log.is_file():
            return Corpus(name, f"{package} {_version(log)}", pages)
    return Corpus(name, f"{package} of an unknown version", pages)


def _fetched(root: Path, name: str) -> Corpus:
    package, inner = PACKAGES[name]

    def make(folder: Path) -> None:
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise AgentError(
                f"The documentation in {package} cannot be fetched: apt-get and dpkg-deb are missing.",
                hint=f"Unpack the packages {', '.join(one for one, _ in PACKAGES.values())} of Debian 12 elsewhere, put"
                f" their pages into folders called {', '.join(PACKAGES)}, and name the folder of those in {VARIABLE}.",
                code="no_corpora",
            )
        hint = f"Run `apt-get update` on Debian 12, or name a folder that holds the sets in {VARIABLE}."
        run(["apt-get", "-qq", "download", package], f"fetching {package}", hint=hint, cwd=folder)
        (archive,) = folder.glob("*.deb")
        run(["dpkg-deb", "-x", archive, folder / "root"], f"unpacking {package}", hint=hint)
        archive.unlink()
        if not (folder / "root" / inner).is_dir():
            raise AgentError(f"{package} has no folder {inner}.", hint=hint, code="no_corpora")

    folder = Cache(Layout.of(root).cache).folder_for(f"corpus-{name}", key_of(package, inner), make)
    log = folder / "root" / "usr" / "share" / "doc" / package / "changelog.Debian.gz"
    return Corpus(name, f"{package} {_version(log)}", folder / "root" / inner)


def _version(changelog: Path) -> str:
    if not changelog.is_file():
        return "of an unknown version"
    with gzip.open(changelog, "rt", encoding="utf-8", errors="replace") as lines:
        found = re.search(r"\(([^)]+)\)", next(lines, ""))
    return found[1] if found else "of an unknown version"
