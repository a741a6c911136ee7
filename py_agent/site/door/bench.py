"""``build.py bench``: run the modules of ``benchmarks/``, print their figures, judge them by their targets."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

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
    chosen = named(root, args.name)
    setup.ensure_chromium()
    report = commands.build_dist(root)
    results = measured(root, chosen, report["versions"])
    if args.json:
        args.json.write_text(json.dumps(results[0] if args.name else results, indent=1) + "\n")
    return 0 if all(figure["ok"] for result in results for figure in result["figures"].values()) else 1


def named(root: Path, name: str | None) -> dict[str, ModuleType]:
    """The bench of this name, or all that run without being named.

    Raises:
        AgentError: There is no such bench.
    """
    names = sorted(path.stem for path in (root / "benchmarks").glob("[!_]*.py"))
    wanted = name.replace("-", "_") if name else None
    if wanted and wanted not in names:
        raise AgentError(f"There is no bench {name!r}.", hint=f"There are: {', '.join(map(_spoken, names))}.")
    sys.path.insert(0, str(root))
    found = {one: importlib.import_module(f"benchmarks.{one}") for one in ([wanted] if wanted else names)}
    return {_spoken(one): module for one, module in found.items() if wanted or not getattr(module, "ON_REQUEST", False)}


def measured(root: Path, benches: Mapping[str, ModuleType], versions: object) -> list[dict[str, Any]]:
    """Runs benches, prints their figures, and gives them back with what they were measured on."""
    results = []
    for name, module in benches.items():
        figures: Figures = module.main(root)
        results.append({"name": name, "machine": machine(), "versions": versions, "figures": figures})
        print(f"\n{name}")
        for key, figure in figures.items():
            target = (
                ""
                if figure["target"] is None
                else f"   (target {figure['target']}: {'met' if figure['ok'] else 'MISSED'})"
            )
            print(f"  {key:<32} {figure['value']} {figure['unit']}{target}")
    return results


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
