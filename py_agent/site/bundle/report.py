"""What the bundle weighs, per file and per first visit; too much fails the build."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

import brotli

from py_agent.site.bundle.cache import Cache, file_digest, key_of
from py_agent.site.bundle.layout import FIRST_OPEN_BUDGET, LAUNCHER_BUDGET, PLAIN_HOST_BUDGET, PLAIN_HOST_TYPES
from py_agent.site.bundle.run import BundleError

#: Best compression: what a build step or a CDN does once per file.
BROTLI_QUALITY = 11
#: For the model runtime, which no first visit loads: 111 MB at best quality would take a build five minutes.
BROTLI_QUALITY_LARGE = 5
#: Files above this many bytes get the quicker setting; the largest file of a first visit has 9.6 MB.
LARGE = 16 * 1024 * 1024
#: What common hosts compress with on the fly.
GZIP_LEVEL = 6

LAUNCHER = "py-agent.js"


class FileSize(TypedDict):
    """Bytes of one file: as it is, gzipped, and brotli."""

    path: str
    raw: int
    gz: int
    br: int


def sizes_of(cache: Cache, path: Path, name: str) -> FileSize:
    """The sizes of the file at `path`, reported as `name`; compressing is cached by content."""

    def measure() -> object:
        data = path.read_bytes()
        quality = BROTLI_QUALITY if len(data) <= LARGE else BROTLI_QUALITY_LARGE
        return {
            "raw": len(data),
            "gz": len(gzip.compress(data, GZIP_LEVEL, mtime=0)),
            "br": len(brotli.compress(data, quality=quality)),
        }

    key = key_of(file_digest(path), BROTLI_QUALITY, BROTLI_QUALITY_LARGE, LARGE, GZIP_LEVEL)
    found = cache.json_for("size", key, measure)
    if not isinstance(found, dict):
        raise BundleError("build/cache holds something else than sizes.", hint="Delete build/cache and build again.")
    return {"path": name, "raw": found["raw"], "gz": found["gz"], "br": found["br"]}


def measure(cache: Cache, agent: Path) -> list[FileSize]:
    """The sizes of every file below `agent`, by path."""
    paths = sorted(path for path in agent.rglob("*") if path.is_file())
    with ThreadPoolExecutor(max_workers=2) as pool:  # both compressors let go of the interpreter lock
        return list(pool.map(lambda path: sizes_of(cache, path, path.relative_to(agent).as_posix()), paths))


def totals_of(files: Iterable[FileSize], first_open: Iterable[str]) -> dict[str, int]:
    """The three sums of the report.

    Args:
        files: All files.
        first_open: Paths that a reader's browser requests until the first answer (search engine, worker host).

    Raises:
        BundleError: A path of `first_open` is no file of the bundle.
    """
    by_path = {entry["path"]: entry for entry in files}
    missing = [path for path in first_open if path not in by_path]
    if missing:
        raise BundleError(
            f"The first visit needs {missing[0]}, which the bundle does not hold.",
            hint="Build again from clean sources.",
        )
    chosen = [by_path[path] for path in dict.fromkeys(first_open)]
    return {
        "launcher_br": by_path[LAUNCHER]["br"],
        "first_open_br": sum(entry["br"] for entry in chosen),
        "first_open_plain_host": sum(
            entry["gz"] if Path(entry["path"]).suffix in PLAIN_HOST_TYPES else entry["raw"] for entry in chosen
        ),
    }


def check_budgets(
    totals: Mapping[str, int],
    *,
    launcher: int = LAUNCHER_BUDGET,
    first_open: int = FIRST_OPEN_BUDGET,
    plain_host: int = PLAIN_HOST_BUDGET,
) -> None:
    """Refuse a bundle that weighs more than it may.

    Raises:
        BundleError: With every total that is over, by how much, and where to look.
    """
    limits = {"launcher_br": launcher, "first_open_br": first_open, "first_open_plain_host": plain_host}
    over = [
        f"{name} is {totals[name]:,} bytes, {totals[name] - limit:,} over its budget of {limit:,}"
        for name, limit in limits.items()
        if totals[name] > limit
    ]
    if over:
        raise BundleError(
            f"The bundle is too heavy: {'; '.join(over)}.",
            hint="dist/report.json lists every file; docs/bundle.md tells what may be trimmed.",
        )


def write(path: Path, report: Mapping[str, object]) -> None:
    """Write the report, readable and stable."""
    path.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
