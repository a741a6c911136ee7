"""The page's wheels: fetched or built by the lock files, and our own without its build-time code."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

from py_agent.site.bundle.cache import Cache, file_digest, key_of, tree_digest
from py_agent.site.bundle.run import BundleError, run
from py_agent.site.bundle.trim import OWN_BUILD_TIME

#: Python and platform inside Pyodide 314: what pip may pick wheels for. `bumping.md` says how to find the next ones.
PAGE_PYTHON = "3.14"
PAGE_ABI = "cp314"
PAGE_PLATFORM = "pyemscripten_2026_0_wasm32"

WHEEL_LOCK = "requirements-page.lock"
TEST_LOCK = "requirements-page-tests.lock"
SDIST_LOCK = "requirements-page-sdists.lock"

#: What each source build needs so that it makes pure Python: no CMake for rapidfuzz, and for markupsafe a "compiler"
#: that fails, upon which its own set-up goes on without its C speed-ups.
PURE_SETTINGS = ("-C", "wheel.cmake=false")
PURE_ENV = {"CC": "/bin/false", "MARKUPSAFE_BUILD": "pure"}

NETWORK_HINT = (
    "Check that the package index can be reached and that the lock file fits it; what was fetched once is kept in "
    "build/cache, so later builds need no network."
)

#: zip cannot store dates before 1980; with this one two builds of our wheel are the same bytes.
SOURCE_DATE = "315532800"


@dataclass(frozen=True)
class Wheel:
    """One wheel file and what it says about itself.

    Args:
        path: The file.
        name: Normalised project name.
        version: As in its metadata.
        depends: Normalised names that it needs in the page (markers evaluated, extras left out).
    """

    path: Path
    name: str
    version: str
    depends: tuple[str, ...]


def normalise(name: str) -> str:
    """A project's name in the form in which two spellings compare equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def page_environment() -> dict[str, str]:
    """The marker variables of Python inside the page."""
    return {
        "implementation_name": "cpython",
        "implementation_version": f"{PAGE_PYTHON}.2",
        "os_name": "posix",
        "platform_machine": "wasm32",
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Emscripten",
        "platform_version": "",
        "python_full_version": f"{PAGE_PYTHON}.2",
        "python_version": PAGE_PYTHON,
        "sys_platform": "emscripten",
        "extra": "",
    }


def read_wheel(path: Path) -> Wheel:
    """What the wheel at `path` says about itself.

    Raises:
        BundleError: It is no wheel.
    """
    from packaging.requirements import Requirement

    try:
        with zipfile.ZipFile(path) as archive:
            metadata = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            text = archive.read(metadata[0]).decode() if len(metadata) == 1 else None
    except (OSError, zipfile.BadZipFile) as error:
        raise BundleError(
            f"{path.name} cannot be read as a wheel: {error}.", hint="Delete build/cache and build again."
        ) from error
    if text is None:
        raise BundleError(
            f"{path.name} is no wheel: it needs exactly one .dist-info/METADATA.", hint="Fetch or build it again."
        )
    fields = Parser().parsestr(text, headersonly=True)
    depends = []
    for line in fields.get_all("Requires-Dist", []):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(page_environment()):
            depends.append(normalise(requirement.name))
    return Wheel(path, normalise(fields["Name"]), fields["Version"], tuple(sorted(set(depends))))


def _fetch(root: Path, lock: str, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(
        [*pip, "download", "--quiet", "--no-deps", "--require-hashes", "-r", root / lock,
         "--only-binary", ":all:", "--implementation", "cp", "--python-version", PAGE_PYTHON,
         "--abi", PAGE_ABI, "--abi", "none",
         "--platform", PAGE_PLATFORM, "--dest", folder],
        f"fetching the wheels of {lock}",
        hint=NETWORK_HINT,
    )  # fmt: skip


def _build_pure(root: Path, folder: Path) -> None:
    # pip wants hashes of what it downloads, and settings per requirement: download first, then build from the files.
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    sources = folder / "sdists"
    run(
        [*pip, "download", "--quiet", "--no-deps", "--no-build-isolation", "--require-hashes", "-r", root / SDIST_LOCK,
         "--no-binary", ":all:", "--dest", sources],
        f"fetching the sources of {SDIST_LOCK}",
        hint=NETWORK_HINT,
        env=PURE_ENV,
    )  # fmt: skip
    for source in sorted(sources.iterdir()):
        settings = PURE_SETTINGS if source.name.startswith("rapidfuzz") else ()
        run(
            [
                *pip,
                "wheel",
                "--quiet",
                "--no-deps",
                "--no-index",
                "--no-build-isolation",
                *settings,
                source,
                "--wheel-dir",
                folder,
            ],
            f"building {source.name} without its compiled parts",
            hint="Its build may have changed: docs/bumping.md says how a pure wheel is made.",
            env={**PURE_ENV, "SOURCE_DATE_EPOCH": SOURCE_DATE},
        )
    shutil.rmtree(sources)


def _fetched(cache: Cache, root: Path, lock: str) -> list[Path]:
    def fetch(folder: Path) -> None:
        _fetch(root, lock, folder)

    tags = [PAGE_PYTHON, PAGE_ABI, PAGE_PLATFORM]
    return sorted(cache.folder_for("wheels", key_of(file_digest(root / lock), tags), fetch).glob("*.whl"))


def wheels_for_tests(cache: Cache, root: Path) -> list[Path]:
    """The wheels that run tests inside Pyodide; no reader gets them.

    Raises:
        BundleError: One cannot be fetched, or has another hash than the lock says.
    """
    return _fetched(cache, root, TEST_LOCK)


def locked_wheels(cache: Cache, root: Path) -> list[Path]:
    """The wheels of both lock files, in the order of their names.

    Raises:
        BundleError: One cannot be fetched, has another hash than the lock says, or does not build.
    """

    def build(folder: Path) -> None:
        _build_pure(root, folder)

    built = cache.folder_for("pure", key_of(file_digest(root / SDIST_LOCK), PURE_SETTINGS, PURE_ENV), build)
    return sorted([*_fetched(cache, root, WHEEL_LOCK), *built.glob("*.whl")], key=lambda path: path.name.lower())


def own_files(root: Path) -> list[Path]:
    """The files of our package that the page gets: no build-time code, no JavaScript, no caches."""
    banned = tuple(root / path for path in OWN_BUILD_TIME)
    files = []
    for path in sorted((root / "py_agent").rglob("*")):
        if not path.is_file() or path.suffix in {".pyc", ".mjs", ".js"} or "__pycache__" in path.parts:
            continue
        if any(path == ban or ban in path.parents for ban in banned):
            continue
        files.append(path)
    return files


def own_wheel(cache: Cache, root: Path) -> Path:
    """Our own wheel for the page: ``py_agent`` without what only a build, a test run or a terminal needs.

    The full package (``pip install py-agent``) is another wheel; this one is built from a copy that has only the page's
    files, by the same back end, so that nothing else can slip in.

    Raises:
        BundleError: The back end failed.
    """
    files = own_files(root)
    project = tomllib.loads((root / "pyproject.toml").read_text())
    meta = project["project"]
    stage_toml = "\n".join(
        [
            "[build-system]",
            f"requires = {json.dumps(project['build-system']['requires'])}",
            'build-backend = "hatchling.build"',
            "[project]",
            *(
                f"{key} = {json.dumps(meta[key])}"
                for key in ("name", "version", "description", "license", "requires-python", "dependencies")
            ),
            "[tool.hatch.build.targets.wheel]",
            'packages = ["py_agent"]',
            "",
        ]
    )

    def make(folder: Path) -> None:
        stage = folder / "stage"
        for path in files:
            target = stage / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        (stage / "pyproject.toml").write_text(stage_toml)
        run(
            [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
            "building our own wheel",
            hint="Its message above says what pyproject.toml lacks.",
            cwd=stage,
            env={"SOURCE_DATE_EPOCH": SOURCE_DATE},
        )
        shutil.rmtree(stage)

    key = key_of(tree_digest(files, root), stage_toml)
    return next(iter(cache.folder_for("own", key, make).glob("*.whl")))
