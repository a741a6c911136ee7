"""Guards at the wheels' door: tags, shared libraries, dependencies.

pyodide-build's own tools do what they can, from an environment of their own (they pin much, and old): its command line
on Python 3.12 and later, below that its libraries ``auditwheel_emscripten`` and ``pyodide_lock``. What they cannot do
is checked with ``packaging``: they know no ``pyemscripten`` tags when they add wheels to a lock file, and the older
``pyodide_lock`` cannot read the lock file of today's Pyodide. :func:`audit` tells what ran and what did not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from py_agent.site.bundle.cache import Cache, file_digest, key_of
from py_agent.site.bundle.run import BundleError, run
from py_agent.site.bundle.wheels import NETWORK_HINT, PAGE_ABI, PAGE_PLATFORM, PAGE_PYTHON, Wheel

CHECKS_LOCK = "requirements-checks.lock"
JOB = Path(__file__).parent / "audit_job.py"

#: From this Python on, pyodide-build has a version for today's Pyodide, and with it a command line.
CLI_PYTHON = (3, 12)

#: What every WebAssembly module begins with.
WASM_MAGIC = b"\0asm"

#: Endings of compiled code, for whatever system.
NATIVE = (".so", ".pyd", ".dll", ".dylib", ".a", ".o")

WRONG_WHEEL = "Pin a version that has the right wheel, or build it without its compiled parts (docs/bumping.md)."


def page_tags() -> set[Tag]:
    """The wheel tags that Python in the page accepts."""
    version = tuple(int(part) for part in PAGE_PYTHON.split("."))
    return {
        *cpython_tags(version, [PAGE_ABI], [PAGE_PLATFORM]),
        *compatible_tags(version, PAGE_ABI, [PAGE_PLATFORM]),
    }


def check_tag(path: Path) -> None:
    """Refuse a wheel for another Python or platform.

    Raises:
        BundleError: With the tags that the page could take.
    """
    try:
        tags = parse_wheel_filename(path.name)[3]
    except InvalidWheelFilename as error:
        raise BundleError(f"{path.name} is no wheel's file name.", hint=WRONG_WHEEL) from error
    if not tags & page_tags():
        raise BundleError(
            f"{path.name} is not for the page: it needs {PAGE_ABI}-{PAGE_PLATFORM} or pure Python (py3-none-any).",
            hint=WRONG_WHEEL,
        )


def natives(path: Path) -> list[str]:
    """Compiled files inside the wheel at `path`."""
    with zipfile.ZipFile(path) as archive:
        return [name for name in archive.namelist() if name.lower().endswith(NATIVE)]


def check_natives(path: Path) -> None:
    """Refuse compiled code that the page cannot load: other than WebAssembly, or in a wheel that claims to be pure.

    Raises:
        BundleError: With the file's name.
    """
    names = natives(path)
    pure = all(tag.platform == "any" for tag in parse_wheel_filename(path.name)[3])
    with zipfile.ZipFile(path) as archive:
        for name in names:
            if archive.read(name)[:4] != WASM_MAGIC:
                raise BundleError(
                    f"{path.name} holds {name}, compiled code that is no WebAssembly: importing it fails in the page.",
                    hint=WRONG_WHEEL,
                )
            if pure:
                raise BundleError(f"{path.name} says it is pure Python and holds {name}.", hint=WRONG_WHEEL)


def check_dependencies(wheels: Sequence[Wheel]) -> None:
    """Refuse a set of wheels that lacks one, or holds two of one.

    Raises:
        BundleError: With the wheel that needs it.
    """
    names = [wheel.name for wheel in wheels]
    for wheel in wheels:
        if names.count(wheel.name) > 1:
            raise BundleError(
                f"There are two wheels of {wheel.name}.", hint="Name it in one of the two lock files only."
            )
        missing = [name for name in wheel.depends if name not in names]
        if missing:
            raise BundleError(
                f"{wheel.path.name} needs {missing[0]}, which is no wheel of the page.",
                hint="Add it to requirements-page.in (or -page-sdists.in) and run `python build.py lock`.",
            )


def check(cache: Cache, root: Path, wheels: Sequence[Wheel]) -> dict[str, object]:
    """All checks of the page's wheels; runs again only when a wheel or a check changed.

    Returns:
        What :func:`audit` says, for the report.

    Raises:
        BundleError: A wheel is not fit for the page.
    """
    for wheel in wheels:
        check_tag(wheel.path)
        check_natives(wheel.path)
    check_dependencies(wheels)
    compiled = [wheel.path for wheel in wheels if natives(wheel.path)]
    found = cache.json_for("audit", audit_key(root, compiled), lambda: audit(cache, root, compiled))
    assert isinstance(found, dict)
    return found


def audit_key(root: Path, paths: Sequence[Path]) -> str:
    """What an audit's result depends on."""
    parts = [file_digest(path) for path in [*paths, root / CHECKS_LOCK, JOB, Path(__file__)]]
    return key_of(parts, sys.version_info[:2])


def audit(cache: Cache, root: Path, paths: Sequence[Path]) -> dict[str, object]:
    """Let Pyodide's own tools look into the compiled wheels at `paths`.

    Returns:
        ``{"ran": [...], "skipped": [[check, reason], ...]}``.

    Raises:
        BundleError: A wheel's library needs another one that is not in the wheel, or a tool could not read it.
    """
    environment = _environment(cache, root)
    python = environment / "bin" / "python"
    by_cli = sys.version_info[:2] >= CLI_PYTHON
    job = [
        str(python),
        str(JOB),
        "cli" if by_cli else "library",
        str(root / "node_modules" / "pyodide" / "pyodide-lock.json"),
    ]
    # auditwheel_emscripten starts `wheel` by name
    path = f"{environment / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(  # noqa: S603 - our own commands
        [*job, *map(str, paths)], capture_output=True, text=True, env={**os.environ, "PATH": path}, check=False
    )
    if done.returncode != 0:
        tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise BundleError(f"Pyodide's own wheel audit failed:\n{tail}\n", hint=WRONG_WHEEL)
    result = json.loads(done.stdout)
    for wheel, libraries in result.pop("needed").items():
        for library, needed in libraries.items():
            if needed:
                raise BundleError(
                    f"{wheel}: {library} needs the shared library {needed[0]}, which no wheel of the page holds.",
                    hint=WRONG_WHEEL,
                )
    assert isinstance(result, dict)
    return result


def _environment(cache: Cache, root: Path) -> Path:
    """The tools' own environment. Virtual environments cannot be moved, so this one is made where it stays."""
    lock = root / CHECKS_LOCK
    folder = cache.folder / f"checks-env-{key_of(file_digest(lock), sys.version_info[:2])[:24]}"
    ready = folder / "ready"
    if ready.is_file():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    run(
        [sys.executable, "-m", "venv", folder],
        "making the wheel checks' environment",
        hint="Delete build/cache and try again.",
    )
    run(
        [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
         "--require-hashes", "--no-deps", "-r", lock],
        f"installing {CHECKS_LOCK}",
        hint=NETWORK_HINT,
    )  # fmt: skip
    ready.write_text("")
    return folder
