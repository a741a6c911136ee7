"""Pyodide's own files, and the lock file that names our packages to it.

``pyodide.asm.mjs`` is served as ``.js``: hosts that compress by extension send ``.mjs`` raw, which costs a reader a
megabyte. ``loadPyodide`` takes the ready module by its ``createPyodideModule`` option: no file of Pyodide is changed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from py_agent.site.bundle.cache import digest, file_digest
from py_agent.site.bundle.layout import HASH_DIGITS, Layout
from py_agent.site.bundle.scripts import bundled
from py_agent.site.bundle.wheels import Wheel

ENTRY = Path(__file__).parent / "pyodide_entry.mjs"


@dataclass(frozen=True)
class Core:
    """Where Pyodide's files went, relative to ``dist/agent``."""

    folder: str
    module: str
    stdlib: str
    files: tuple[str, ...]


def write_core(layout: Layout, stdlib: Path) -> Core:
    """Copy Pyodide's core and the standard library into ``assets/pyodide-HASH/``.

    Args:
        layout: The project.
        stdlib: The trimmed library, a stored zip of ``.pyc``.
    """
    source = layout.modules / "pyodide"
    module, _ = bundled(layout, ENTRY, "esm")
    contents: dict[str, bytes | Path] = {
        "pyodide.js": module,
        "pyodide.asm.js": source / "pyodide.asm.mjs",
        "pyodide.asm.wasm": source / "pyodide.asm.wasm",
        "python_stdlib.zip.wasm": stdlib,
    }
    hashes = {name: digest(data) if isinstance(data, bytes) else file_digest(data) for name, data in contents.items()}
    folder = f"assets/pyodide-{digest(json.dumps(hashes, sort_keys=True).encode())[:HASH_DIGITS]}"
    target = layout.agent / folder
    target.mkdir(parents=True)
    for name, data in contents.items():
        if isinstance(data, bytes):
            (target / name).write_bytes(data)
        else:
            shutil.copyfile(data, target / name)
    return Core(
        folder,
        f"{folder}/pyodide.js",
        f"{folder}/python_stdlib.zip.wasm",
        tuple(f"{folder}/{name}" for name in contents),
    )


def lock_json(layout: Layout, packages: Sequence[tuple[Wheel, str, str, Sequence[str]]]) -> bytes:
    """Our ``pyodide-lock.json``: what Pyodide and micropip may know of the packages that we unpack ourselves.

    Args:
        layout: The project; Pyodide's own lock file gives the ``info`` block.
        packages: Wheel, file name beside the lock file, SHA-256, top-level imports.
    """
    info = json.loads((layout.modules / "pyodide" / "pyodide-lock.json").read_text())["info"]
    entries = {
        wheel.name: {
            "name": wheel.name,
            "version": wheel.version,
            "file_name": file_name,
            "install_dir": "site",
            "sha256": sha256,
            "package_type": "package",
            "imports": list(imports),
            "depends": list(wheel.depends),
            "unvendored_tests": False,
        }
        for wheel, file_name, sha256, imports in packages
    }
    return json.dumps({"info": info, "packages": entries}, sort_keys=True, separators=(",", ":")).encode()
