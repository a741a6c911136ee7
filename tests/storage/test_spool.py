"""The spools of CPython. The same behaviours run over the page's spool in tests/browser."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_agent.model.errors import StorageError
from py_agent.storage.base import Spool
from py_agent.storage.spool import FolderSpool, MemorySpool
from py_agent.storage.spoolnames import folders_of, key_of, path_of
from tests.storage import spool_behaviours

ROOT = Path(__file__).resolve().parents[2]
CASE = json.loads((ROOT / "tests/fixtures/cases/S07.json").read_text(encoding="utf-8"))
LEGAL = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$")
DEVICES = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)

any_key = st.text(st.characters(exclude_categories=()), max_size=200)


def assert_legal(names: list[str]) -> None:
    """Every name is one that any file system takes."""
    for name in names:
        assert LEGAL.match(name), name
        assert not name.endswith("."), name
        assert not DEVICES.match(name), name


@pytest.mark.parametrize("behaviour", spool_behaviours.ALL, ids=lambda behaviour: behaviour.__name__)
@pytest.mark.parametrize("kind", ["memory", "folder"])
async def test_over_memory_and_folder(behaviour: Callable[[Spool], Awaitable[None]], kind: str, tmp_path: Path) -> None:
    await behaviour(MemorySpool() if kind == "memory" else FolderSpool(tmp_path / "spool"))


def test_the_keys_of_the_case_are_among_those_that_are_tested() -> None:
    assert set(CASE["keys"]) <= set(spool_behaviours.KEYS)


@pytest.mark.parametrize("key", spool_behaviours.KEYS)
def test_a_key_becomes_legal_names_and_comes_back(key: str) -> None:
    assert_legal(path_of(key))
    assert key_of(path_of(key)) == key


@given(st.lists(any_key, unique=True, max_size=20))
def test_no_two_keys_share_a_file_on_a_system_that_ignores_case(keys: list[str]) -> None:
    paths = [tuple(segment.casefold() for segment in path_of(key)) for key in keys]
    assert len(set(paths)) == len(keys)
    files, folders = set(paths), {path[:length] for path in paths for length in range(1, len(path))}
    assert not files & folders
    for key in keys:
        assert_legal(path_of(key))
        assert key_of(path_of(key)) == key


@given(any_key, any_key)
def test_a_key_lies_in_the_folders_that_its_prefix_tells(prefix: str, rest: str) -> None:
    # A surrogate that a following one completes is one character for Python and the same two units on disk.
    path = path_of(prefix + rest)
    assert path[: len(folders_of(prefix))] == folders_of(prefix)


@pytest.mark.cpython  # Node reads the page's side
def test_python_and_the_page_give_a_key_the_same_names() -> None:
    program = (
        'import("./worker/spoolnames.js").then(({pathOf, keyOf, foldersOf}) => {'
        'const keys = JSON.parse(require("fs").readFileSync(0, "utf8"));'
        "console.log(JSON.stringify(keys.map((key) => [pathOf(key), keyOf(pathOf(key)) === key, foldersOf(key)])));})"
    )
    done = subprocess.run(
        ["node", "--eval", program],
        cwd=ROOT,
        input=json.dumps(spool_behaviours.KEYS),
        capture_output=True,
        text=True,
        check=True,
    )
    names: list[Any] = json.loads(done.stdout)
    assert names == [[path_of(key), True, folders_of(key)] for key in spool_behaviours.KEYS]


async def test_nothing_is_written_outside_the_folder(tmp_path: Path) -> None:
    spool = FolderSpool(tmp_path / "below" / "spool")
    for key in spool_behaviours.KEYS:
        await spool.write(key, b"x")
        await spool.append(key, b"y")
    assert [path.name for path in tmp_path.iterdir()] == ["below"]
    assert [path.name for path in (tmp_path / "below").iterdir()] == ["spool"]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == len(spool_behaviours.KEYS)
    for path in files:
        assert_legal(list(path.relative_to(tmp_path / "below" / "spool").parts))


async def test_deleted_keys_leave_no_folder(tmp_path: Path) -> None:
    spool = FolderSpool(tmp_path)
    await spool.write("x" * 300, b"x")
    await spool.write("x" * 301, b"x")
    await spool.delete("x" * 301)
    assert await spool.read("x" * 300) == b"x"
    await spool.delete("")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.cpython  # the limit is the operating system's; the page's spool has a test of its own
async def test_an_append_that_is_cut_leaves_what_was_there(tmp_path: Path) -> None:
    """The disk is full after a part of the record: a limit on the size of files does the same to a process."""
    import resource
    import signal

    spool = FolderSpool(tmp_path)
    await spool.append("trace", b"whole line\n")
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, old[1]))
        with pytest.raises(StorageError) as caught:
            await spool.append("trace", b"x" * 5_000)
        with pytest.raises(StorageError) as written:
            await spool.write("result", b"x" * 5_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.code == written.value.code == "full"
    assert caught.value.hint
    assert await spool.read("trace") == b"whole line\n"
    with pytest.raises(KeyError):
        await spool.read("result")
    await spool.append("trace", b"next\n")
    assert await spool.read("trace") == b"whole line\nnext\n"


async def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError) as caught:
        await FolderSpool(tmp_path / "file").write("key", b"x")
    assert caught.value.code == "unavailable"
