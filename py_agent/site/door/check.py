"""``build.py test``: what CI runs. Bundle, linters, type checkers, tests; pytest's own last line comes last."""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree  # the report is our own pytest's, of this very run
from collections.abc import Callable
from pathlib import Path

from py_agent.model.errors import AgentError
from py_agent.site.door import commands, setup

#: How many of the slowest tests are named.
SLOWEST = 10

#: pytest's exit code when nothing was selected.
NOTHING_RAN = 5

#: The rooms whose tests run on CPython and, unchanged, inside Pyodide: ``build.py test harness`` does both.
HARNESS_ROOMS = (
    "agent",
    "artifacts",
    "context",
    "engines",
    "gates",
    "model",
    "planner",
    "prompt",
    "runner",
    "storage",
    "tools",
    "trace",
)

#: Name of that selection, and the test that runs the rooms in the page.
HARNESS = "harness"
HARNESS_IN_PAGE = "tests/browser/test_harness_in_page.py"

Step = dict[str, object]


def run(root: Path, args: argparse.Namespace) -> int:
    """Run all checks, or the tests of one room.

    All static checks run even when one fails: a person wants to see every complaint at once.

    Returns:
        0 when everything is well, else 1.
    """
    steps: list[Step] = []
    setup.ensure_chromium()
    _timed(steps, "dist", lambda: commands.build_dist(root) is not None)
    if not args.name:
        for name, command in static_checks(root).items():
            _timed(steps, name, functools.partial(_call, root, command))
    junit = root / "build" / "test" / "junit.xml"
    junit.parent.mkdir(parents=True, exist_ok=True)
    junit.unlink(missing_ok=True)
    failed = [str(step["name"]) for step in steps if not step["ok"]]
    if failed:  # said before the tests, so that pytest's closing line is the last
        print(f"\nFAILED before the tests: {', '.join(failed)} (see above)\n", flush=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        f"--durations={SLOWEST}",
        f"--junitxml={junit}",
        *selection(root, args.name, full=args.full),
    ]
    start = time.monotonic()
    code = subprocess.call(command, cwd=root)  # noqa: S603 - our own Python
    steps.append({"name": "pytest", "ok": code == 0, "seconds": round(time.monotonic() - start, 1)})
    if args.json:
        args.json.write_text(json.dumps(summary(steps, junit), indent=1) + "\n")
    if code == NOTHING_RAN:
        raise AgentError(
            f"No test matches {args.name!r}.", hint="Give a folder of tests/, a file, or a pytest -k expression."
        )
    return 0 if all(step["ok"] for step in steps) else 1


def static_checks(root: Path) -> dict[str, list[str]]:
    """The linters and type checkers, by name."""
    python = [sys.executable, "-m"]
    checks = {
        "ruff check": [*python, "ruff", "check", "."],
        "ruff format": [*python, "ruff", "format", "--check", "."],
        "mypy": [*python, "mypy"],
    }
    if (root / "tsconfig.json").is_file():
        checks["tsc"] = [
            str(root / "node_modules" / ".bin" / ("tsc.cmd" if os.name == "nt" else "tsc")),
            "-p",
            "tsconfig.json",
        ]
    return checks


def selection(root: Path, name: str | None, *, full: bool) -> list[str]:
    """pytest's arguments that choose the tests."""
    marks = [] if full else ["-m", "not full"]
    if not name:
        return marks
    if name == HARNESS:
        return [*marks, *(f"tests/{room}" for room in HARNESS_ROOMS), HARNESS_IN_PAGE]
    for path in (root / "tests" / name, root / "tests" / f"test_{name}.py", root / name):
        if path.exists():
            return [*marks, str(path)]
    return [*marks, "-k", name]


def summary(steps: list[Step], junit: Path) -> dict[str, object]:
    """What ``--json`` writes: steps, counts, the slowest tests and the failed ones."""
    counts = {"passed": 0, "failed": 0, "errors": 0, "skipped": 0}
    cases: list[tuple[float, str]] = []
    failed: list[str] = []
    if junit.is_file():
        for case in ElementTree.parse(junit).getroot().iter("testcase"):  # noqa: S314 - our own pytest wrote it
            name = f"{case.get('classname', '')}::{case.get('name', '')}"
            kinds = {child.tag for child in case}
            outcome = {"failure": "failed", "error": "errors", "skipped": "skipped"}
            key = next((value for tag, value in outcome.items() if tag in kinds), "passed")
            counts[key] += 1
            if key in {"failed", "errors"}:
                failed.append(name)
            cases.append((float(case.get("time", "0")), name))
    cases.sort(reverse=True)
    return {
        "ok": all(bool(step["ok"]) for step in steps),
        "steps": steps,
        "tests": counts,
        "failed": failed,
        "slowest": [{"test": name, "seconds": seconds} for seconds, name in cases[:SLOWEST]],
    }


def _timed(steps: list[Step], name: str, action: Callable[[], bool]) -> None:
    start = time.monotonic()
    ok = action()
    seconds = round(time.monotonic() - start, 1)
    steps.append({"name": name, "ok": ok, "seconds": seconds})
    print(f"{name}: {'ok' if ok else 'FAILED'} ({seconds} s)", flush=True)


def _call(root: Path, command: list[str]) -> bool:
    return subprocess.call(command, cwd=root) == 0  # noqa: S603 - our own tools
