"""The storage worker: the store's behaviours over sqlite-wasm, the spool on OPFS, and what happens without OPFS."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import Canned, SiteServer
from tests.browser.python_page import PythonPage
from tests.storage import behaviours

pytestmark = pytest.mark.browser

#: Keys that are no file names: separators, dots, device names, case, both forms of an umlaut, 300 characters, controls.
KEYS = [
    "turn/1/call/0",
    "a/../b",
    "..",
    ".",
    "",
    "CON",
    "nul.txt",
    "name ",
    "name.",
    "a:b",
    "a\\b",
    "a%2Fb",
    "A",
    "a",
    "\u00c4",
    "A\u0308",
    "🙂",
    "x" * 300,
    "x" * 301,
    "call-1.json",
    "call_1.json",
    "\u0000zero",
    "-rf",
    "tab\there",
    "../../etc/passwd",
    "c1",
    "C1",
]

#: Takes the browser's private file system away, as a private window of some browsers does.
WITHOUT_OPFS = {
    "no_method": "delete StorageManager.prototype.getDirectory",
    "refused": "StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('no', 'SecurityError'))",
}


def open_python(browser: BrowserContext, server: SiteServer, assets: dict[str, Any]) -> PythonPage:
    page = browser.new_page()
    page.goto(server.url)
    return PythonPage(page, f"{server.url}/agent/", assets)


@pytest.fixture(scope="module")
def python(browser: BrowserContext, server: SiteServer, assets: dict[str, Any]) -> Iterator[PythonPage]:
    python = open_python(browser, server, assets)
    yield python
    python.page.close()


@pytest.fixture(scope="module")
def shared(python: PythonPage) -> PythonPage:
    """The page with the store's behaviours loaded."""
    source = Path(behaviours.__file__).read_text(encoding="utf-8")
    python.run(
        """
        import sys, types
        module = types.ModuleType("behaviours")
        exec(compile(source, "behaviours.py", "exec", dont_inherit=True), module.__dict__)
        sys.modules["behaviours"] = module
        """,
        source=source,
    )
    return python


def files_on_opfs(python: PythonPage, directory: str) -> list[str]:
    """Paths of all files under ``directory``, as the browser lists them."""
    names: list[str] = python.page.evaluate(
        """async (directory) => {
          const found = [];
          const walk = async (folder, path) => {
            for await (const [name, handle] of folder.entries()) {
              if (handle.kind === "directory") await walk(handle, `${path}${name}/`);
              else found.push(path + name);
            }
          };
          await walk(await (await navigator.storage.getDirectory()).getDirectoryHandle(directory), "");
          return found;
        }""",
        directory,
    )
    return names


@pytest.mark.parametrize("name", [behaviour.__name__ for behaviour in behaviours.ALL])
def test_over_the_pages_database(shared: PythonPage, name: str) -> None:
    shared.run(
        """
        import behaviours
        from py_agent.storage.store import Store
        worker = storage(f"store-{name}")
        await worker.open()
        assert worker.persistent and not worker.notice
        store = Store(worker)
        await store.open()
        await getattr(behaviours, name)(store)
        await store.close()
        """,
        name=name,
    )


def test_a_newer_file_is_refused_and_left_alone(python: PythonPage) -> None:
    error, version = python.run(
        """
        from py_agent.storage.store import Store
        worker = storage("newer")
        await worker.open()
        await worker.execute("PRAGMA user_version = 99")
        try:
            await Store(worker).open()
        except AgentError as error:
            return [error_of(error), (await worker.execute("PRAGMA user_version"))[0]["user_version"]]
        """
    )
    assert error["code"] == "newer"
    assert version == 99


def test_the_database_is_exclusive_durable_and_journaled(python: PythonPage) -> None:
    pragmas = python.run(
        """
        worker = storage("pragmas")
        await worker.open()
        names = ("locking_mode", "journal_mode", "synchronous", "foreign_keys")
        return {name: list((await worker.execute(f"PRAGMA {name}"))[0].values())[0] for name in names}
        """
    )
    assert pragmas == {"locking_mode": "exclusive", "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_every_key_keeps_its_own_bytes(python: PythonPage) -> None:
    python.run(
        """
        worker = storage("keys")
        await worker.open()
        for number, key in enumerate(keys):
            await worker.write(key, f"v{number}".encode())
        for number, key in enumerate(keys):
            assert await worker.read(key) == f"v{number}".encode(), key
            assert await worker.size(key) == len(f"v{number}"), key
        """,
        keys=KEYS,
    )
    spooled = [path for path in files_on_opfs(python, "keys") if path.startswith("spool/")]
    assert len(spooled) == len(KEYS)
    allowed = set("abcdefghijklmnopqrstuvwxyz234567")
    for path in spooled:
        for segment in path.split("/")[1:]:
            assert segment[0] in "df"
            assert set(segment[1:]) <= allowed
            assert len(segment) <= 120


def test_the_spool_reads_ranges_replaces_and_deletes_by_prefix(python: PythonPage) -> None:
    python.run(
        """
        worker = storage("ranges")
        await worker.open()
        await worker.write("turn/1/a", b"0123456789")
        await worker.write("turn/1/a", b"abcdef")
        await worker.write("turn/1/b", b"")
        await worker.write("turn/2/a", bytes(range(256)) * 4096)
        assert await worker.read("turn/1/a") == b"abcdef"
        assert await worker.read("turn/1/a", 2, 4) == b"cd"
        assert await worker.read("turn/1/a", 4, 99) == b"ef"
        assert await worker.read("turn/1/a", 99) == b""
        assert await worker.size("turn/1/b") == 0
        assert await worker.read("turn/2/a", 256, 512) == bytes(range(256))
        assert await worker.delete("turn/1/") == 2
        for missing in ("turn/1/a", "never"):
            try:
                await worker.read(missing)
            except KeyError as error:
                assert error.args == (missing,)
            else:
                raise AssertionError(missing)
        assert await worker.size("turn/2/a") == 256 * 4096
        """
    )


@pytest.mark.parametrize("way", WITHOUT_OPFS)
def test_without_opfs_the_same_database_runs_in_memory_and_says_so(
    browser: BrowserContext, blank_site: Path, assets: dict[str, Any], dist: Path, way: str
) -> None:
    script = (dist / "agent" / assets["storage"]).read_text(encoding="utf-8")
    broken = Canned(200, f"{WITHOUT_OPFS[way]};\n{script}".encode(), "text/javascript")
    canned = {"/agent/" + assets["storage"]: broken}
    with SiteServer(blank_site, mounts={"/agent": dist / "agent"}, canned=canned) as server:
        python = open_python(browser, server, assets)
        notice, persistent = use_memory(python)
        python.page.close()
    assert not persistent
    assert "not kept" in notice


def use_memory(python: PythonPage) -> tuple[str, bool]:
    """Uses database and spool, checks what comes back; the notice, and whether anything is kept."""
    notice, persistent = python.run(
        """
        from py_agent.storage.store import Store
        worker = storage("memory")
        await worker.open()
        store = Store(worker)
        await store.open()
        await store.open_question("t", "Does it?", "turn")
        assert [message.content for message in await store.history("t")] == ["Does it?"]
        assert await worker.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS fts") == [{"fts": 1}]
        await worker.write("a/b", b"bytes")
        assert await worker.read("a/b", 1) == b"ytes"
        return [worker.notice, worker.persistent]
        """
    )
    return notice, persistent


def test_a_file_that_another_tab_holds_is_busy_and_never_a_fork_in_memory(python: PythonPage) -> None:
    error = python.run(
        """
        first, second = storage("held"), storage("held")
        await first.open()
        try:
            await second.open()
        except AgentError as error:
            return error_of(error)
        """
    )
    assert error["code"] == "busy"
    assert "close" in error["hint"].lower()


def test_a_tab_that_lets_go_within_the_wait_is_followed(python: PythonPage) -> None:
    rows = python.run(
        """
        first, second = storage("handover"), storage("handover")
        await first.open()
        await first.execute("CREATE TABLE t (x)")
        await first.execute("INSERT INTO t VALUES (1)")
        opening = asyncio.ensure_future(second.open())
        await asyncio.sleep(0.3)
        assert not opening.done()
        js.lines[js.lines.length - 2].worker.terminate()
        await opening
        return await second.execute("SELECT x FROM t")
        """
    )
    assert rows == [{"x": 1}]


def test_a_killed_storage_worker_fails_its_call_with_lost_and_the_next_call_opens_again(python: PythonPage) -> None:
    codes, rows = python.run(
        """
        worker = storage("killed")
        await worker.open()
        await worker.execute("CREATE TABLE t (x)")
        await worker.execute("INSERT INTO t VALUES (1)")
        js.lines[js.lines.length - 1].worker.terminate()
        codes = []
        try:
            await worker.execute("INSERT INTO t VALUES (2)")
        except AgentError as error:
            codes.append(error.code)
        return [codes, await worker.execute("SELECT x FROM t")]
        """
    )
    assert codes == ["lost"]
    assert rows == [{"x": 1}]


def test_a_damaged_database_is_called_damaged(python: PythonPage) -> None:
    python.run("worker = storage('damaged'); await worker.open(); await worker.close()")
    error = python.run(
        """
        from pyodide.code import run_js
        worker = storage("damaged")
        await worker.open()
        await worker.execute("CREATE TABLE t (x)")
        await worker.execute("INSERT INTO t VALUES (randomblob(100000))")
        await worker.close()
        js.lines[js.lines.length - 1].terminate()
        await asyncio.sleep(0.2)
        await run_js(spoil)("damaged")
        try:
            await storage("damaged").open()
        except AgentError as error:
            return error_of(error)
        """,
        spoil="""async (directory) => {
          const root = await (await navigator.storage.getDirectory()).getDirectoryHandle(directory);
          const walk = async (folder) => {
            for await (const handle of folder.values()) {
              if (handle.kind === "directory") { await walk(handle); continue; }
              const file = await handle.getFile();
              if (file.size <= 8192) continue;
              // The pool keeps 4,096 bytes of its own in front; the database's header follows.
              const writable = await handle.createWritable({keepExistingData: true});
              await writable.write({type: "write", position: 4096, data: new Uint8Array(2048).fill(7)});
              await writable.close();
            }
          };
          await walk(root);
        }""",
    )
    assert error is not None
    assert error["code"] == "damaged", json.dumps(error)
    assert "Clear this site's data" in error["hint"]
