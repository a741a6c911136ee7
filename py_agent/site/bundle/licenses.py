"""``dist/agent/licenses/``: what is inside and under which licence, with the texts. One that we do not know fails."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

from py_agent.site.bundle.layout import Layout
from py_agent.site.bundle.run import BundleError
from py_agent.site.bundle.wheels import Wheel

#: Licences (SPDX) under which a site's owner may pass the bundle on with just their texts and the sources' names.
ALLOWED = frozenset(
    {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "PSF-2.0", "Python-2.0", "0BSD"}
)

#: JavaScript packages of which something lands in the bundle, those that come with them included.
BUNDLED_NPM = ("@litert-lm/core", "@litertjs/wasm-utils", "@sqlite.org/sqlite-wasm", "dompurify", "marked", "pyodide")

#: What Pyodide's core carries inside, by the files of ``pyodide`` on npm; none of them is a package of its own there.
INSIDE = (("CPython", "Python-2.0", "https://github.com/python/cpython"),)

#: Old metadata names a licence by classifier; SPDX knows three licences of that name, and these projects use this one.
CLASSIFIERS = {"License :: OSI Approved :: BSD License": "BSD-3-Clause"}

INDEX = "NOTICES.txt"


@dataclass(frozen=True)
class Notice:
    """One part of the bundle. ``license`` is an SPDX expression, ``source`` an address."""

    name: str
    version: str
    license: str
    source: str


def check(notice: Notice) -> Notice:
    """``notice``, if its licence is one of ``ALLOWED``.

    Raises:
        BundleError: It is not, or there is none.
    """
    for choice in re.split(r"\s+OR\s+", notice.license.strip("() ")):
        if all(part.strip("() ") in ALLOWED for part in re.split(r"\s+AND\s+", choice)):
            return notice
    raise BundleError(
        f"{notice.name} {notice.version} comes under {notice.license or 'no named licence'}, which is not allowed.",
        hint="Read its licence; if the bundle may carry it, add it to ALLOWED in py_agent/site/bundle/licenses.py.",
    )


def of_wheel(wheel: Wheel) -> Notice:
    """What the metadata of a wheel says."""
    with zipfile.ZipFile(wheel.path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        fields = Parser().parsestr(archive.read(name).decode(), headersonly=True)
    classified = [CLASSIFIERS[line] for line in fields.get_all("Classifier", []) if line in CLASSIFIERS]
    license_ = fields["License-Expression"] or next(iter(classified), "") or fields["License"] or ""
    links = dict(line.lower().split(", ", 1) for line in fields.get_all("Project-URL", []))
    source = next((links[key] for key in ("source", "repository", "homepage") if key in links), "")
    return Notice(wheel.name, wheel.version, license_, source)


def of_npm(modules: Path, name: str) -> Notice:
    """What the package.json of a JavaScript package says."""
    package = json.loads((modules / name / "package.json").read_text(encoding="utf-8"))
    repository = package.get("repository", "")
    source = repository if isinstance(repository, str) else repository.get("url", "")
    return Notice(name, package["version"], package.get("license", ""), source or package.get("homepage", ""))


def write_licenses(layout: Layout, wheels: Sequence[Wheel], texts: Mapping[str, bytes]) -> None:
    """Checks every part, and writes the notices and the texts.

    Args:
        layout: The project.
        wheels: The page's wheels.
        texts: Texts found in wheels and scripts, by file name.

    Raises:
        BundleError: A licence is not allowed, or its text is nowhere.
    """
    folder = layout.agent / "licenses"
    folder.mkdir()
    pyodide = of_npm(layout.modules, "pyodide")
    notices = [
        *(of_npm(layout.modules, name) for name in BUNDLED_NPM),
        *(Notice(name, f"in Pyodide {pyodide.version}", license_, source) for name, license_, source in INSIDE),
        *(of_wheel(wheel) for wheel in wheels if wheel.name != "py-agent"),
    ]
    lines = ["What this folder is made of. The texts of the licences lie beside this file.", ""]
    for notice in sorted((check(notice) for notice in notices), key=lambda notice: notice.name.lower()):
        lines.append(f"{notice.name} {notice.version}\n    {notice.license}\n    {notice.source}")
    (folder / INDEX).write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {
        **texts,
        "py-agent.txt": _text(layout.root / "LICENSE"),  # Apache-2.0, the licence of LiteRT-LM and sqlite-wasm too
        "MPL-2.0.txt": _text(layout.modules / "dompurify" / "LICENSE-MPL"),
        "marked.txt": _text(layout.modules / "marked" / "LICENSE"),
    }
    for name, text in found.items():
        (folder / name).write_bytes(text)


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BundleError(
            f"The licence text {path} is missing.", hint="Its package has moved it: look where, and name it here."
        ) from error
