"""Stored zips of compiled Python: the form in which Python code reaches the page."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from py_agent.site.bundle.cache import Cache, file_digest, key_of
from py_agent.site.bundle.run import BundleError, run
from py_agent.site.bundle.trim import dropped

#: The date of every entry: zip's first day. A real one would make each build differ.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)

HERE = Path(__file__).parent
JOB = HERE / "compile_job.py"
RUNNER = HERE / "compile.mjs"

#: Seconds for one tree; the standard library takes about 15 on a slow machine.
COMPILE_TIMEOUT = 300.0


def write_stored(target: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` as a zip without compression, sorted, without dates: hosts compress it better whole."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, ZIP_DATE)
            info.external_attr = 0o644 << 16
            info.create_system = 3
            archive.writestr(info, files[name])


def read_tree(folder: Path) -> dict[str, bytes]:
    """All files below `folder` by their path with slashes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def read_zip(path: Path) -> dict[str, bytes]:
    """All files of the zip at `path` by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def compiled_zip(
    cache: Cache, modules: Path, source: Path, patterns: Iterable[str], *, name: str, optimize: int
) -> Path:
    """The archive at `source` without what `patterns` drop, compiled inside Pyodide, as a stored zip.

    Args:
        cache: Where the result is kept.
        modules: The ``node_modules`` that hold Pyodide.
        source: A wheel, or Pyodide's zip of the standard library.
        patterns: Drop list, as in :mod:`py_agent.site.bundle.trim`.
        name: The archive's name without hash and suffix.
        optimize: As for :func:`compile`.

    Raises:
        BundleError: Node is missing, or the code does not compile.
    """
    drop = tuple(patterns)
    pyodide = modules / "pyodide"
    parts = [
        file_digest(path)
        for path in (source, JOB, RUNNER, HERE / "archive.py", pyodide / "package.json", pyodide / "pyodide.asm.wasm")
    ]
    key = key_of(name, parts, drop, optimize)

    def make(folder: Path) -> None:
        tree = folder / "tree"
        for path, data in read_zip(source).items():
            if dropped(path, drop):
                continue
            target = tree / path
            if not target.resolve().is_relative_to(tree.resolve()):
                raise BundleError(
                    f"{source.name} has an entry outside its folder: {path}.",
                    hint="Do not use this file; fetch it again.",
                )
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        run(
            ["node", RUNNER, pyodide / "pyodide.mjs", JOB, str(optimize), tree],
            f"compiling {name} inside Pyodide",
            hint="The message above names the file; its Python must be valid for the Python inside Pyodide.",
            timeout=COMPILE_TIMEOUT,
        )
        files = read_tree(tree)
        left = [path for path in files if path.endswith(".py")]
        if left:
            raise BundleError(f"{name}: {left[0]} was not compiled.", hint="Delete build/cache and build again.")
        write_stored(folder / f"{name}.zip", files)
        shutil.rmtree(tree)

    return cache.folder_for("pyc", key, make) / f"{name}.zip"
