"""Runs in the wheel checks' own environment: python audit_job.py cli|library PYODIDE_LOCK WHEEL...

Prints one JSON object: ``needed`` (wheel -> library -> shared libraries that it wants), ``ran``, ``skipped``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path


def by_cli(wheel: Path) -> dict[str, list[str]]:
    """What ``pyodide auditwheel show`` says: a line a library, its needs indented below."""
    program = Path(sys.executable).parent / "pyodide"
    done = subprocess.run([str(program), "auditwheel", "show", str(wheel)], capture_output=True, text=True)  # noqa: S603
    if done.returncode != 0:
        sys.exit(f"`pyodide auditwheel show {wheel.name}` failed: {(done.stderr or done.stdout).strip()[-500:]}")
    found: dict[str, list[str]] = {}
    library = ""
    for line in done.stdout.splitlines():
        if line.endswith(":") and not line[0].isspace():
            library = line[:-1]
            found[library] = []
        elif line.strip():
            found[library].append(line.split()[0])
    return found


def by_library(wheel: Path) -> dict[str, list[str]]:
    """The same from the library. The older one does not know the platform's new name in a wheel's: it gets a folder."""
    from auditwheel_emscripten import show  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        return {name: list(needed) for name, needed in show(Path(folder)).items()}


def main() -> None:
    """Audit, and say what ran."""
    how, lock, *wheels = sys.argv[1:]
    ran, skipped = [], []
    needed = {Path(path).name: (by_cli if how == "cli" else by_library)(Path(path)) for path in wheels}
    ran.append("auditwheel show" if how == "cli" else "auditwheel_emscripten.show")
    from pyodide_lock import PyodideLockSpec  # type: ignore[import-not-found]

    try:
        PyodideLockSpec.from_json(Path(lock)).check_wheel_filenames()
        ran.append("pyodide_lock on Pyodide's own lock file")
    except ValueError as error:
        skipped.append(["pyodide_lock", f"it cannot read Pyodide's own lock file ({str(error).splitlines()[0]})"])
    skipped.append(["pyodide lockfile add-wheels", "it knows no pyemscripten tags; tags are checked with packaging"])
    print(json.dumps({"needed": needed, "ran": ran, "skipped": skipped}))


if __name__ == "__main__":
    main()
