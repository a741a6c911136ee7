"""``build.py bench``: run the modules of ``benchmarks/``, print their figures, judge them by their targets."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from pathlib import Path

from py_agent.model.errors import AgentError
from py_agent.site.door import commands, setup

#: Figures of one bench: key -> {value, unit, target, ok}. `target` is None where a figure is only watched.
Figures = dict[str, dict[str, object]]


def run(root: Path, args: argparse.Namespace) -> int:
    """Run one bench or all.

    A bench is a module of ``benchmarks/`` with ``main(root) -> Figures``; in its name hyphens may stand for
    underscores. One that takes very long says ``ON_REQUEST = True`` and runs only when it is named.

    Returns:
        0 when every figure with a target meets it, else 1.

    Raises:
        AgentError: There is no such bench.
    """
    names = sorted(path.stem for path in (root / "benchmarks").glob("[!_]*.py"))
    wanted = args.name.replace("-", "_") if args.name else None
    if wanted and wanted not in names:
        raise AgentError(f"There is no bench {args.name!r}.", hint=f"There are: {', '.join(map(_spoken, names))}.")
    setup.ensure_chromium()
    report = commands.build_dist(root)
    results = []
    ok = True
    sys.path.insert(0, str(root))
    for name in [wanted] if wanted else names:
        module = importlib.import_module(f"benchmarks.{name}")
        if not wanted and getattr(module, "ON_REQUEST", False):
            print(f"\n{_spoken(name)}: runs only by its name")
            continue
        figures: Figures = module.main(root)
        ok = ok and all(figure["ok"] for figure in figures.values())
        results.append(
            {"name": _spoken(name), "machine": machine(), "versions": report["versions"], "figures": figures}
        )
        print(f"\n{_spoken(name)}")
        for key, figure in figures.items():
            target = (
                ""
                if figure["target"] is None
                else f"   (target {figure['target']}: {'met' if figure['ok'] else 'MISSED'})"
            )
            print(f"  {key:<32} {figure['value']} {figure['unit']}{target}")
    if args.json:
        args.json.write_text(json.dumps(results[0] if args.name else results, indent=1) + "\n")
    return 0 if ok else 1


def _spoken(module: str) -> str:
    """A bench's name as people type it."""
    return module.replace("_", "-")


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
