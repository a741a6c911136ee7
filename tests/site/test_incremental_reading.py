"""Unchanged files are not read again; many files are read by several processes; nothing of that changes the result."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from py_agent.site import pool, reading
from py_agent.site.cache import KEPT_DAYS, ReadingCache
from py_agent.site.read import Site, find_files, read_site
from py_agent.site.rules import PageRule, Rules
from tests.sites import html_page, make_site

PROJECT = Path(__file__).parents[2]


def build(root: Path, folder: Path | None, rules: Rules | None = None, processes: int = 1) -> Site:
    cache = ReadingCache(folder)
    try:
        return read_site(root, find_files(root), cache=cache, rules=rules, processes=processes)
    finally:
        cache.close()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    pages = {f"{name}.html": html_page(name, f"Words of {name} – ü.") for name in "abc"}
    root = make_site(tmp_path / "site", pages)
    (root / "d.md").write_text("# d\n\n`code` and words\n")
    return root


def test_only_what_changed_is_read_again_and_the_result_is_the_same(site: Path, tmp_path: Path) -> None:
    first = build(site, tmp_path / "cache")
    assert (first.fresh, first.kept) == (4, 0)
    again = build(site, tmp_path / "cache")
    assert (again.fresh, again.kept) == (0, 4)
    assert (again.pages, again.skipped) == (first.pages, first.skipped)
    (site / "b.html").write_text(html_page("b", "Other words."))
    os.utime(site / "a.html", (1, 1))  # the time of a file says nothing
    changed = build(site, tmp_path / "cache")
    assert (changed.fresh, changed.kept) == (1, 3)
    assert [one.pieces[0].text for one in changed.pages if one.page == "b.html"] == ["Other words."]
    assert build(site, None).kept == 0


def test_a_page_under_another_name_and_a_cache_in_another_place_are_known(site: Path, tmp_path: Path) -> None:
    build(site, tmp_path / "cache")
    (site / "a.html").rename(site / "moved.html")
    (tmp_path / "cache").rename(tmp_path / "elsewhere")
    again = build(site, tmp_path / "elsewhere")
    assert (again.fresh, again.kept) == (0, 4)
    assert [page.page for page in again.pages] == ["b.html", "c.html", "d.html", "moved.html"]


def test_what_decides_a_reading_is_in_its_key() -> None:
    """A module that a reading goes through, and that is not in the key, would leave old readings in use."""
    seen, waiting = set(), ["reading"]
    while waiting:
        name = waiting.pop()
        seen.add(name)
        source = (PROJECT / "py_agent" / "site" / f"{name}.py").read_text()
        waiting += [one for one in re.findall(r"^from py_agent\.site\.(\w+) import", source, re.M) if one not in seen]
    assert seen <= set(reading._MODULES)


def test_builds_at_once_share_a_cache(tmp_path: Path) -> None:
    root = make_site(tmp_path / "site", {f"{n:02}.html": html_page(f"T{n}", f"Words {n}.") for n in range(80)})
    code = (
        "import sys; from pathlib import Path; from tests.site.test_incremental_reading import build;"
        "site = build(Path(sys.argv[1]), Path(sys.argv[2])); print(len(site.pages), site.trouble)"
    )
    command = [sys.executable, "-c", code, str(root), str(tmp_path / "cache")]
    both = [subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [one.communicate(timeout=60)[0].strip() for one in both] == ["80 []", "80 []"]
    assert build(root, tmp_path / "cache").kept == 80


def test_a_new_cache_is_opened_by_many_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from py_agent.site.cache import ReadingCache; print(flush=True);"
        "print([ReadingCache(Path(sys.argv[1]) / line.strip()).trouble for line in sys.stdin])"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    many = [
        subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for one in many:
        assert one.stdout is not None and one.stdout.readline() == "\n"
    for number in range(40):
        for one in many:
            assert one.stdin is not None
            one.stdin.write(f"{number}\n")
            one.stdin.flush()
    assert {one.communicate(timeout=60)[0].strip() for one in many} == {str([""] * 40)}


def test_other_rules_and_another_reader_read_again(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(site, tmp_path / "cache")
    other = build(site, tmp_path / "cache", Rules(pages=[PageRule("a.*", drop=("p",))]))
    assert (other.fresh, other.kept) == (1, 3)
    monkeypatch.setattr(reading, "reader_version", lambda: "another")
    assert build(site, tmp_path / "cache").kept == 0


def test_the_readers_version_changes_with_its_code_and_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    before = reading.reader_version()
    monkeypatch.setattr(reading, "version", lambda name: "0")
    assert reading.reader_version.__wrapped__() != before


def test_a_damaged_cache_is_told_and_costs_only_time(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    build(site, folder)
    for file in folder.iterdir():
        file.write_bytes(b"this is no database, but it is long enough to look like one" * 40)
    found = build(site, folder)
    assert len(found.pages) == 4 and found.kept == 0
    assert "damaged" in found.trouble[0]
    assert build(site, folder).kept == 4


def test_a_damaged_reading_is_read_again(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    first = build(site, folder)
    with sqlite3.connect(folder / "readings.sqlite") as database:
        database.execute("UPDATE readings SET reading = x'0011' WHERE rowid % 2")
    found = build(site, folder)
    assert found.pages == first.pages and 0 < found.kept < 4 and not found.trouble


def test_a_cache_folder_that_cannot_be_used_is_told(site: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    found = build(site, tmp_path / "file" / "cache")
    assert len(found.pages) == 4 and "Nothing is kept" in found.trouble[0]


def test_readings_that_nobody_asks_for_are_dropped(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    build(site, folder)
    today = int(time.time()) // 86_400
    with sqlite3.connect(folder / "readings.sqlite") as database:
        database.execute("UPDATE readings SET day = ?", (today - KEPT_DAYS - 1,))
    (site / "a.html").unlink()
    assert build(site, folder).kept == 3  # asked for in time
    with sqlite3.connect(folder / "readings.sqlite") as database:
        assert database.execute("SELECT count(*) FROM readings").fetchone() == (3,)


def test_several_processes_give_the_same_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_site(tmp_path / "site", {f"{n:02}.html": html_page(f"T{n}", f"Words {n}.") for n in range(60)})
    alone = build(root, None)
    monkeypatch.setattr(pool, "POOL_FROM_FILES", 10)
    ticks: list[int] = []
    cache = ReadingCache(tmp_path / "cache")
    together = read_site(root, find_files(root), cache=cache, processes=2, progress=lambda: ticks.append(1))
    cache.close()
    assert together.pages == alone.pages and len(together.pages) == 60
    assert len(ticks) == 60
    assert build(root, tmp_path / "cache").kept == 60


def test_a_file_that_cannot_be_read_is_told_by_every_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_site(tmp_path / "site", {f"{n:02}.html": html_page(f"T{n}", f"Words {n}.") for n in range(30)})
    (root / "gone.html").symlink_to("nowhere.html")
    monkeypatch.setattr(pool, "POOL_FROM_FILES", 10)
    for processes in (1, 2):
        found = build(root, None, processes=processes)
        assert [(one.file, one.kind) for one in found.skipped] == [("gone.html", "unreadable")]
        assert len(found.pages) == 30


def test_a_page_on_which_the_reader_fails_ends_no_build(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(reading, "read_rst", fail)
    (site / "e.rst").write_text("Title\n=====\n\nText.\n")
    found = build(site, None)
    assert len(found.pages) == 4
    assert [one.reason for one in found.skipped] == [
        "the reader failed on it (RecursionError: too deep); please report"
    ]


def running(group: int) -> list[str]:
    """The processes of a group that are not ended yet; one that is ended and not yet waited for is a zombie."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = stat.read_text().rpartition(")")
            state, _, its_group = rest.split()[:3]
            if int(its_group) == group and state != "Z":
                found.append(name)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_ctrl_c_ends_all_processes_and_leaves_no_index(tmp_path: Path) -> None:
    body = "<p>Some words to read here.</p>" * 4_000
    root = make_site(tmp_path / "site", {f"{n:03}.html": f"<main><h1>{n}</h1>{body}</main>" for n in range(400)})
    command = [sys.executable, "-m", "py_agent.cli", "index", str(root), "--out", str(tmp_path / "out"), "--no-cache"]
    process = subprocess.Popen(
        command, cwd=PROJECT, stderr=subprocess.PIPE, start_new_session=True, env={**os.environ, "PYTHONPATH": "."}
    )
    time.sleep(4)
    assert process.poll() is None, "it was done before it could be interrupted"
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 1 and b"Aborted" in told and b"Traceback" not in told
    assert not (tmp_path / "out").exists()
    end = time.monotonic() + 5
    while (alive := running(process.pid)) and time.monotonic() < end:
        time.sleep(0.1)
    assert alive == []
