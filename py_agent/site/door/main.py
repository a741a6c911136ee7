"""Arguments, set-up, and the step from the system's Python into ``.venv``'s."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from py_agent.model.errors import AgentError
from py_agent.site.door import setup

ROOT = Path(__file__).resolve().parents[3]

#: Set while a command runs inside ``.venv``: a broken environment must not start itself for ever.
INSIDE = "PY_AGENT_INSIDE_VENV"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="build.py", description="Build, show, test and measure py-agent.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    json_help = "also write what happened to this file"

    commands.add_parser("dist", help="build dist/agent/, the folder that a site hosts, and dist/report.json")

    demo = commands.add_parser("demo", help="serve a site with the chatbot in it")
    demo.add_argument("--port", type=int, default=None, help="TCP port (default: 8000, with --check a free one)")
    demo.add_argument("--check", action="store_true", help="ask in headless Chromium and verify the citation, then end")
    demo.add_argument("--site", type=Path, help="a folder of HTML pages (default: this project's own docs)")
    demo.add_argument("--ask", action="append", metavar="QUESTION", help="what --check asks; may be repeated")
    demo.add_argument("--json", type=Path, metavar="FILE", help=json_help)

    test = commands.add_parser("test", help="build, lint, type-check and test")
    test.add_argument(
        "name", nargs="?", help="one room (a folder of tests/), a file, or a pytest -k expression; tests only"
    )
    test.add_argument("--full", action="store_true", help="with the long repeats")
    test.add_argument("--json", type=Path, metavar="FILE", help=json_help)

    bench = commands.add_parser("bench", help="run the benchmarks")
    bench.add_argument("name", nargs="?", help="one of them (default: all)")
    bench.add_argument("--json", type=Path, metavar="FILE", help=json_help)

    commands.add_parser("lock", help="resolve the lock files anew from pyproject.toml and requirements-*.in")
    commands.add_parser("clean", help="remove what was built; .venv and node_modules stay")
    return top


def main(argv: Sequence[str]) -> int:
    """Run one command.

    Returns:
        The exit code: 0, 1 after one line that says what went wrong and its cure, 130 after an interrupt.
    """
    try:
        return _run(argv)
    except AgentError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("build.py: interrupted.", file=sys.stderr)
        return 130


def _run(argv: Sequence[str]) -> int:
    args = parser().parse_args(argv)
    if args.command == "clean":
        setup.clean(ROOT)
        return 0
    if not os.environ.get(INSIDE):
        python = setup.ensure_venv(ROOT)
        setup.ensure_node()
        setup.ensure_modules(ROOT)
        return _inside(python, argv)
    if not Path(sys.prefix).samefile(ROOT / setup.VENV):
        raise AgentError(
            f"{INSIDE} is set, but this Python is not the one of {setup.VENV}.", hint=f"Unset {INSIDE} and run again."
        )
    from py_agent.site.door import commands

    return commands.run(ROOT, args)


def _inside(python: Path, argv: Sequence[str]) -> int:
    sys.stdout.flush()
    command = [str(python), str(ROOT / "build.py"), *argv]
    environment = {**os.environ, INSIDE: "1"}
    if os.name == "posix":
        os.execve(python, command, environment)  # noqa: S606 - the same process goes on: signals reach the command itself
    return subprocess.call(command, env=environment)  # noqa: S603 - our own Python
