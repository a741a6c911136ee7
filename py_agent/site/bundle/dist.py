"""``python build.py dist``: from sources and lock files to ``dist/agent/``.

    py-agent.js                     the loader, one classic script; knows the names below
    assets/widget|session|host|engine|storage-HASH.js
    assets/sqlite3-HASH.wasm
    assets/litert-HASH/             the engine's own files; only a chosen model loads them
    assets/pyodide-HASH/            pyodide.js, pyodide.asm.js, pyodide.asm.wasm, python_stdlib.zip.wasm
    assets/pyodide-lock-HASH.json   outside that folder, which would otherwise change with our own code
    assets/NAME-HASH.zip.wasm       one stored zip of .pyc a wheel, for unpackArchive(bytes, "zip", {extractDir})
    licenses/                       the licences of all that is inside

Extension modules inside an unpacked archive (pydantic-core has one) need nothing more: importing it compiles it. On
the page's main thread that is one pause; a host that wants none awaits Pyodide's own loading of it before the import.
"""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from py_agent.site.bundle import checks
from py_agent.site.bundle import report as sizes
from py_agent.site.bundle.archive import compiled_zip
from py_agent.site.bundle.cache import Cache, digest, file_digest
from py_agent.site.bundle.core import lock_json, write_core
from py_agent.site.bundle.layout import ARCHIVE_SUFFIX, HASH_DIGITS, Layout
from py_agent.site.bundle.licenses import write_licenses
from py_agent.site.bundle.run import BundleError, run
from py_agent.site.bundle.scripts import ENTRIES, LOADER, bundled, hashed
from py_agent.site.bundle.trim import LATE_WHEELS, STDLIB, wheel_patterns
from py_agent.site.bundle.wheels import Wheel, locked_wheels, own_wheel, read_wheel

#: Scripts that a first visit loads in the default host (the session worker) with the search engine.
FIRST_OPEN_SCRIPTS = ("widget", "session", "storage")

#: JavaScript packages whose versions decide what the bundle can do.
REPORTED_VERSIONS = ("pyodide", "@litert-lm/core", "@sqlite.org/sqlite-wasm", "dompurify", "marked", "esbuild")

#: `compile` without docstrings and assertions for what others wrote; our own keeps both: tools show its docstrings to
#: models, and a broken promise must not pass in silence.
LIBRARY_OPTIMIZE = 2
OWN_OPTIMIZE = 0


def build(root: Path, out: Path | None = None, *, partial: bool = False) -> dict[str, object]:
    """Build the bundle of the project in `root`.

    Args:
        root: The project's folder, with ``node_modules`` installed.
        out: Folder for ``agent/`` and ``report.json``; ``dist`` unless said.
        partial: Leave out entry points that do not exist, for work on one part of the page. Never for a release.

    Returns:
        The report, as in ``report.json``.

    Raises:
        BundleError: A step failed, or the bundle weighs more than its budgets.
    """
    layout = Layout.of(root, out)
    cache = Cache(layout.cache)
    shutil.rmtree(layout.agent, ignore_errors=True)
    layout.assets.mkdir(parents=True)
    licenses: dict[str, bytes] = {}

    stdlib = compiled_zip(
        cache,
        layout.modules,
        layout.modules / "pyodide" / "python_stdlib.zip",
        STDLIB,
        name="python_stdlib",
        optimize=LIBRARY_OPTIMIZE,
    )
    core = write_core(layout, stdlib)
    wheels = [read_wheel(path) for path in [*locked_wheels(cache, root), own_wheel(cache, root)]]
    audited = checks.check(cache, root, wheels)
    wheels = in_order(wheels)
    archives = [_write_archive(cache, layout, wheel, licenses) for wheel in wheels]
    lock = lock_json(
        layout,
        [(wheel, Path(str(entry["url"])).name, str(entry["sha256"]), imports) for wheel, entry, imports in archives],
    )
    lock_path = f"assets/{hashed('pyodide-lock', lock, '.json')}"
    (layout.agent / lock_path).write_bytes(lock)
    sqlite = _copy_hashed(layout, layout.modules / "@sqlite.org" / "sqlite-wasm" / "dist" / "sqlite3.wasm")

    assets: dict[str, object] = {
        "litertWasm": _copy_litert(layout),
        "sqliteWasm": sqlite,
        "pyodide": {"module": core.module, "index": core.folder + "/", "stdlib": core.stdlib, "lock": lock_path},
        "archives": [entry for _, entry, _ in archives],
    }
    for name, (entry, form) in ENTRIES.items():
        if partial and not (root / entry).is_file():
            print(f"left out: {entry} does not exist", file=sys.stderr)
            continue
        code, legal = bundled(layout, root / entry, form)
        assets[name] = f"assets/{hashed(name, code, '.js')}"
        (layout.agent / str(assets[name])).write_bytes(code)
        if legal:
            licenses[f"{name}.js.txt"] = legal
    if partial and not (root / LOADER).is_file():
        print(f"left out: {LOADER} does not exist", file=sys.stderr)
        (layout.agent / sizes.LAUNCHER).write_bytes(b"")
    else:
        loader, _ = bundled(layout, root / LOADER, "iife", {"__PY_AGENT_ASSETS__": json.dumps(assets, sort_keys=True)})
        (layout.agent / sizes.LAUNCHER).write_bytes(loader)
    # The map that the loader carries, for pages that bring a loader of their own (the tests of the workers do).
    (layout.out / "assets.json").write_text(json.dumps(assets, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    write_licenses(layout, wheels, licenses)

    first_open = [
        sizes.LAUNCHER, *(str(assets[name]) for name in FIRST_OPEN_SCRIPTS if name in assets),
        sqlite, *core.files, lock_path, *(str(entry["url"]) for _, entry, _ in archives),
    ]  # fmt: skip
    files = sizes.measure(cache, layout.agent)
    result: dict[str, object] = {
        "files": files,
        "totals": sizes.totals_of(files, first_open),
        "first_open": first_open,
        "assets": assets,
        "wheel": _own_names(wheels),
        "checks": audited,
        "versions": _versions(layout, wheels),
    }
    sizes.write(layout.report, result)
    sizes.check_budgets(sizes.totals_of(files, first_open))
    return result


def in_order(wheels: Iterable[Wheel]) -> list[Wheel]:
    """`wheels` with every dependency before what needs it, by name where that leaves a choice.

    Raises:
        BundleError: There is a circle.
    """
    rest = {wheel.name: wheel for wheel in sorted(wheels, key=lambda wheel: wheel.name)}
    done: list[Wheel] = []
    while rest:
        names = {wheel.name for wheel in done}
        ready = [wheel for wheel in rest.values() if names.issuperset(wheel.depends)]
        if not ready:
            raise BundleError(
                f"These wheels need each other in a circle: {', '.join(rest)}.", hint="Bundle them as one wheel."
            )
        done.append(ready[0])
        del rest[ready[0].name]
    return done


def _write_archive(
    cache: Cache, layout: Layout, wheel: Wheel, licenses: dict[str, bytes]
) -> tuple[Wheel, dict[str, object], list[str]]:
    packed = compiled_zip(
        cache,
        layout.modules,
        wheel.path,
        wheel_patterns(wheel.name),
        name=wheel.name,
        optimize=OWN_OPTIMIZE if wheel.name == "py-agent" else LIBRARY_OPTIMIZE,
    )
    data = packed.read_bytes()
    url = f"assets/{hashed(wheel.name, data, ARCHIVE_SUFFIX)}"
    (layout.agent / url).write_bytes(data)
    with zipfile.ZipFile(packed) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    with zipfile.ZipFile(wheel.path) as archive:
        for name in archive.namelist():
            if ".dist-info/" in name and "licen" in name.lower() and not name.endswith("/"):
                licenses[f"{wheel.name}.txt"] = licenses.get(f"{wheel.name}.txt", b"") + archive.read(name)
    imports = sorted(top.removesuffix(".pyc") for top in tops if not top.endswith((".dist-info", ".data")))
    late = wheel.name in LATE_WHEELS
    return wheel, {"name": wheel.name, "url": url, "sha256": digest(data), "bytes": len(data), "late": late}, imports


def _copy_hashed(layout: Layout, source: Path) -> str:
    name = f"assets/{source.stem}-{file_digest(source)[:HASH_DIGITS]}{source.suffix}"
    shutil.copyfile(source, layout.agent / name)
    return name


def _copy_litert(layout: Layout) -> str:
    """All four builds of the runtime: which one a browser needs (JSPI or not, old or new) the runtime decides."""
    source = layout.modules / "@litert-lm" / "core" / "wasm"
    paths = sorted(path for path in source.iterdir() if path.suffix in {".js", ".wasm"})
    version = json.loads((source.parent / "package.json").read_text())["version"]
    hashes = [(path.name, file_digest(path)) for path in paths]
    folder = f"assets/litert-{digest(json.dumps([version, hashes]).encode())[:HASH_DIGITS]}/"
    (layout.agent / folder).mkdir()
    for path in paths:
        shutil.copyfile(path, layout.agent / folder / path.name)
    return folder


def _own_names(wheels: Iterable[Wheel]) -> list[str]:
    own = next(wheel for wheel in wheels if wheel.name == "py-agent")
    with zipfile.ZipFile(own.path) as archive:
        return sorted(archive.namelist())


def _versions(layout: Layout, wheels: Iterable[Wheel]) -> dict[str, str]:
    found = {wheel.name: wheel.version for wheel in wheels}
    for name in REPORTED_VERSIONS:
        found[name] = json.loads((layout.modules / name / "package.json").read_text())["version"]
    found["node"] = (
        run(["node", "--version"], "asking Node its version", hint="Install Node 20 or newer.")
        .strip()
        .removeprefix("v")
    )
    found["python"] = ".".join(map(str, sys.version_info[:3]))
    return found
