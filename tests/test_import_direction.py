"""Imports point one way through the rooms, so that a room can be read, tested and replaced by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import py_agent

ROOT = Path(py_agent.__file__).parent
#: From the vocabulary outwards: a room may import rooms to its left and those that stand with it.
LAYERS: list[set[str]] = [
    {"model"},
    {"prompt", "artifacts", "storage", "search"},
    {"engines"},
    {"runner"},
    {"context", "planner", "gates", "tools", "trace"},
    {"agent"},
    {"replay"},
    {"browser", "cli", "evals"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
FREE = {"site", "testing"}  # may import anything, and nobody imports them ...
USERS_OF_FREE = {"cli", "evals", *FREE}  # ... but what runs at build time
BROWSER_MODULES = {"js", "pyodide", "pyodide_js"}
BUILD_PACKAGES = {"click", "selectolax", "markdown_it", "mdit_py_plugins", "brotli", "playwright", "pytest"}
BUILD_ROOMS = {"site", "testing", "evals", "cli"}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports() -> Iterator[tuple[Path, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((path, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield path, node.module


def test_no_room_imports_one_that_stands_further_out() -> None:
    wrong = []
    for path, module in imports():
        parts = module.split(".")
        here = room_of(path)
        if parts[0] != "py_agent" or len(parts) == 1 or here in FREE:
            continue
        there = parts[1]
        if there in FREE:
            if here not in USERS_OF_FREE:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
        elif here in LEVEL and LEVEL[there] > LEVEL[here]:
            wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert wrong == []


def test_only_the_browser_room_knows_the_browser() -> None:
    assert {room_of(path) for path, module in imports() if module.split(".")[0] in BROWSER_MODULES} <= {"browser"}


def test_only_build_time_rooms_need_more_than_the_page_has() -> None:
    users = {room_of(path) for path, module in imports() if module.split(".")[0] in BUILD_PACKAGES}
    assert users <= BUILD_ROOMS
