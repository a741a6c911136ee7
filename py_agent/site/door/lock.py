"""``build.py lock``: resolve the lock files anew. Only people who move a version run this."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from py_agent.site.bundle.run import run as run_tool
from py_agent.site.bundle.wheels import PAGE_PYTHON

#: Lock file -> what uv is given. Hashes always, never an index's address: everybody's own configuration has that.
LOCKS: dict[str, tuple[str, ...]] = {
    "requirements.lock": (
        "pyproject.toml",
        "--all-extras",
        "--group",
        "dev",
        "--universal",
        "--python-version",
        "3.11",
    ),
    "requirements-page.lock": ("requirements-page.in", "--no-deps", "--python-version", PAGE_PYTHON),
    "requirements-page-tests.lock": ("requirements-page-tests.in", "--no-deps", "--python-version", PAGE_PYTHON),
    "requirements-page-sdists.lock": ("requirements-page-sdists.in", "--no-deps"),
    "requirements-bench.lock": ("requirements-bench.in", "pyproject.toml", "--universal", "--python-version", "3.11"),
    "requirements-checks.lock": ("requirements-checks.in", "--universal", "--python-version", "3.11"),
}


def run(root: Path) -> None:
    """Write every lock file."""
    for name, arguments in LOCKS.items():
        run_tool(
            [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--upgrade", "--generate-hashes",
             "--no-emit-index-url", "--no-emit-find-links", "--no-annotate",
             "--custom-compile-command", "python build.py lock", *arguments, "-o", name],
            f"resolving {name}",
            hint="uv's message above says which requirements do not fit together.",
            cwd=root,
        )  # fmt: skip
        path = root / name
        path.write_text(re.sub(r"(?m)^--(extra-)?index-url.*\n|^--find-links.*\n", "", path.read_text()))
        print(f"{name}: written")
