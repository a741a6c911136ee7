"""The commands, inside ``.venv``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from py_agent.model.errors import AgentError
from py_agent.site.bundle import dist


def run(root: Path, args: argparse.Namespace) -> int:
    """Run the command that `args` name.

    Returns:
        The exit code.

    Raises:
        AgentError: With what went wrong and the cure.
    """
    if args.command == "dist":
        build_dist(root)
        return 0
    if args.command == "demo":
        from py_agent.site.door import demo

        return demo.run(root, args)
    if args.command == "test":
        from py_agent.site.door import check

        return check.run(root, args)
    if args.command == "bench":
        from py_agent.site.door import bench

        return bench.run(root, args)
    if args.command == "lock":
        from py_agent.site.door import lock

        lock.run(root)
        return 0
    raise AgentError(f"There is no command {args.command}.", hint="See build.py --help.")


def build_dist(root: Path) -> dict[str, object]:
    """Build ``dist/`` and say in a line what it weighs.

    Returns:
        The report, as in ``dist/report.json``.
    """
    start = time.monotonic()
    report = dist.build(root)
    totals = report["totals"]
    assert isinstance(totals, dict)
    print(
        f"dist/agent: {time.monotonic() - start:.1f} s; launcher {totals['launcher_br']:,} B, first visit "
        f"{totals['first_open_br']:,} B with brotli, {totals['first_open_plain_host']:,} B from a host that only gzips",
        flush=True,
    )
    return report
