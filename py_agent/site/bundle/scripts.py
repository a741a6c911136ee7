"""The JavaScript of the page: entry points, bundled by esbuild, named by content."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from py_agent.site.bundle.cache import digest
from py_agent.site.bundle.layout import HASH_DIGITS, Layout
from py_agent.site.bundle.run import BundleError, run

#: What we write may use: all of WebGPU's and JSPI's browsers are newer than this.
TARGET = "es2022"

#: name -> (entry, format). One file each: `session` and `host` share code, but a page loads one of the two.
ENTRIES: dict[str, tuple[str, str]] = {
    "widget": ("web/widget.js", "esm"),
    "session": ("worker/session.js", "esm"),
    "host": ("worker/host.js", "esm"),
    "engine": ("worker/engine.js", "iife"),
    "storage": ("worker/storage.js", "esm"),
}

LOADER = "web/loader.js"


def bundled(layout: Layout, entry: Path, form: str, define: Mapping[str, str] | None = None) -> tuple[bytes, bytes]:
    """What esbuild makes of `entry`, and the licence texts of what it took in.

    Args:
        layout: The project.
        entry: A module.
        form: "esm" or "iife".
        define: Names that are replaced by JavaScript expressions.

    Raises:
        BundleError: esbuild is missing, or refused the code.
    """
    esbuild = layout.modules / ".bin" / "esbuild"
    if not entry.is_file():
        raise BundleError(f"The entry point {entry} is missing.", hint="Restore it from version control.")
    out = Path(tempfile.mkdtemp(prefix="py-agent-esbuild-"))
    try:
        run(
            [esbuild, entry, "--bundle", "--minify", f"--format={form}", f"--target={TARGET}", "--charset=utf8",
             "--legal-comments=external", "--log-level=warning", "--loader:.css=text", "--external:node:*",
             f"--outfile={out / 'out.js'}", *(f"--define:{name}={value}" for name, value in (define or {}).items())],
            f"esbuild {entry.name}",
            hint="Its message above names file and line.",
            cwd=layout.root,
        )  # fmt: skip
        legal = out / "out.js.LEGAL.txt"
        return (out / "out.js").read_bytes(), legal.read_bytes() if legal.exists() else b""
    finally:
        shutil.rmtree(out, ignore_errors=True)


def hashed(name: str, data: bytes, suffix: str) -> str:
    """``NAME-HASH.SUFFIX`` for `data`; `suffix` with its dot."""
    return f"{name}-{digest(data)[:HASH_DIGITS]}{suffix}"
