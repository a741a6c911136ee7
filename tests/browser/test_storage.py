"""The storage worker: the store's behaviours over sqlite-wasm, the spool on OPFS, and what happens without OPFS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import Canned, SiteServer
from tests.browser import opfs
from tests.browser.python_page import PythonPage
from tests.storage import behaviours, spool_behaviours
from tests.storage.test_spool import assert_legal

pytestmark = pytest.mark.browser

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


def load_behaviours(python: PythonPage) -> None:
    """Makes the behaviours of stores and spools modules of the page's Python."""
    for module in (behaviours, spool_behaviours):
        python.run(
            """
            import sys, types
            module = types.ModuleType(name)
            exec(compile(source, f"{name}.py", "exec", dont_inherit=True), module.__dict__)
            sys.modules[name] = module
            """,
            name=module.__name__.rpartition(".")[2],
            source=Path(module.__file__ or "").read_text(encoding="utf-8"),
        )


@pytest.fixture(scope="module")
def shared(python: PythonPage) -> PythonPage:
    """The page with the behaviours of stores and spools loaded."""
    load_behaviours(python)
    return python


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


@pytest.mark.parametrize("name", [behaviour.__name__ for behaviour in spool_behaviours.ALL])
def test_over_the_pages_spool(shared: PythonPage, name: str) -> None:
    shared.run(
        """
        import spool_behaviours
        worker = storage(f"spool-{name}")
        await worker.open()
        assert worker.persistent
        await getattr(spool_behaviours, name)(worker)
        await worker.close()
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
        names = ("locking_mode", "journal_mode", "synchronous", "foreign_keys", "secure_delete", "temp_store")
        return {name: list((await worker.execute(f"PRAGMA {name}"))[0].values())[0] for name in names}
        """
    )
    assert pragmas == {
        "locking_mode": "exclusive",
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
        "temp_store": 2,
    }


def test_every_key_of_the_case_becomes_legal_names_inside_the_spool(python: PythonPage) -> None:
    python.run(
        """
        worker = storage("keys")
        await worker.open()
        for number, key in enumerate(keys):
            await worker.write(key, f"v{number}".encode())
            await worker.append(f"appended/{key}", f"v{number}".encode())
        for number, key in enumerate(keys):
            assert await worker.read(key) == await worker.read(f"appended/{key}") == f"v{number}".encode(), key
        """,
        keys=spool_behaviours.KEYS,
    )
    found = opfs.files(python.page, "keys")
    spooled = [path for path in found if path.startswith("spool/")]
    assert len({path.casefold() for path in spooled}) == 2 * len(spool_behaviours.KEYS)
    assert_legal([segment for path in spooled for segment in path.split("/")])
    assert all(path.startswith(("spool/", "sqlite/.opaque/")) for path in found)


def test_deleted_keys_leave_no_folder(python: PythonPage) -> None:
    folders = python.run(
        """
        worker = storage("folders")
        await worker.open()
        await worker.write("x" * 300, b"x")
        await worker.write("x" * 301, b"x")
        await worker.delete("x" * 301)
        assert await worker.read("x" * 300) == b"x"
        await worker.delete("")
        from pyodide.code import run_js
        count = await run_js(
            "(async () => { const root = await navigator.storage.getDirectory();"
            "const spool = await (await root.getDirectoryHandle('folders')).getDirectoryHandle('spool');"
            "let count = 0; for await (const _ of spool.keys()) count += 1; return count; })()"
        )
        return count
        """
    )
    assert folders == 0


@pytest.mark.parametrize("way", WITHOUT_OPFS)
def test_without_opfs_the_same_database_runs_in_memory_and_says_so(
    browser: BrowserContext, blank_site: Path, assets: dict[str, Any], dist: Path, way: str
) -> None:
    script = (dist / "agent" / assets["storage"]).read_text(encoding="utf-8")
    broken = Canned(200, f"{WITHOUT_OPFS[way]};\n{script}".encode(), "text/javascript")
    canned = {"/agent/" + assets["storage"]: broken}
    with SiteServer(blank_site, mounts={"/agent": dist / "agent"}, canned=canned) as server:
        python = open_python(browser, server, assets)
        load_behaviours(python)
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
        assert await worker.delete("") == 1
        assert await worker.forget_set_aside(None) == 0
        import spool_behaviours
        for behaviour in spool_behaviours.ALL:
            await behaviour(worker)
            await worker.delete("")
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


def test_damage_that_a_statement_finds_is_mended_or_set_aside_at_the_next_start(python: PythonPage) -> None:
    """A broken search index is made again: nothing is set aside for it, and nothing told."""
    error, notice, found = python.run(
        """
        from py_agent.storage.store import Store
        worker = storage("index")
        await worker.open()
        store = Store(worker)
        await store.open()
        for number in range(40):
            await store.open_question(f"t{number}", f"Where is walrus {number}?", "turn")
        await worker.execute("DELETE FROM messages_fts_data WHERE id > 100")
        error = None
        try:
            await store.search_threads("walrus")
        except AgentError as thrown:
            error = error_of(thrown)
        await worker.close()
        again = storage("index")
        await again.open()
        store = Store(again)
        await store.open()
        found = len(await store.search_threads("walrus", 100))
        return [error, again.notice, found]
        """
    )
    assert error["code"] == "damaged"
    assert "Reload" in error["hint"]
    assert (notice, found) == ("", 40)
    assert not [path for path in opfs.files(python.page, "index") if "aside" in path or path == "damaged"]


def test_deleted_words_stand_in_no_file_of_the_site(shared: PythonPage) -> None:
    """Whatever order of turns and deletions; the files are looked at while the worker has them open."""
    for seed in range(3):
        gone, kept = shared.run(TALK_AND_DELETE, seed=seed, directory=f"deletion-{seed}")
        content = b"".join(data.lower() for data in opfs.files(shared.page, f"deletion-{seed}").values())
        assert len(gone) > 5
        assert [word for word in gone if word.encode() in content or word[-12:].encode() in content] == []
        assert [word for word in kept if word.encode() not in content] == []


#: Turns with a secret word in every place that a turn has, and deletions between them.
TALK_AND_DELETE = """
import random, behaviours
from py_agent.model.record import Feedback
from py_agent.storage.deletion import delete_thread
from py_agent.storage.keys import trace_key, turn_prefix
from py_agent.storage.store import Store, new_id
worker = storage(directory)
await worker.open()
store = Store(worker)
await store.open()
chance = random.Random(seed)
kept, gone = {}, []
for number in range(50):
    if kept and chance.random() < 0.35:
        thread = chance.choice(sorted(kept))
        await delete_thread(store, worker, thread)
        gone += kept.pop(thread)
        continue
    thread, turn, word = chance.choice([*sorted(kept), f"t{number}"]), new_id(), f"geheim{chance.getrandbits(64):016x}"
    question = await store.open_question(thread, f"Why {word}?", turn)
    turned = behaviours.record(question, thread, turn, f"As {word}. " * 30)
    call = turned.tool_calls[0].model_copy(update={"shown": f"shown {word}", "arguments": {"query": word}})
    thought = turned.thoughts[0].model_copy(update={"text": f"thinking of {word}"})
    turned = turned.model_copy(update={"tool_calls": (call,), "thoughts": (thought,)})
    await store.commit_turn(turned)
    await store.set_feedback(Feedback(message=turned.answer.id, verdict="down", text=f"{word} is wrong"))
    await worker.write(f"{turn_prefix(turn)}call_0", f"result {word}".encode())
    await worker.append(trace_key(thread, turn), f"trace {word}".encode())
    kept.setdefault(thread, []).append(word)
while not gone or len(kept) > 2:
    thread = sorted(kept)[0]
    await delete_thread(store, worker, thread)
    gone += kept.pop(thread)
return [gone, [word for words in kept.values() for word in words]]
"""


def test_a_kill_in_the_middle_leaves_whole_turns_and_whole_appends(shared: PythonPage) -> None:
    """The worker is ended while commits and appends are under way; nothing that was acknowledged is lost."""
    for moment in (5, 40, 120):
        acknowledged, appended, states, rows, trace = shared.run(
            """
            import behaviours
            from py_agent.storage.store import Store
            worker = storage(f"kill-{moment}")
            await worker.open()
            store = Store(worker)
            await store.open()
            acknowledged, appended = [], []

            async def turns():
                for number in range(500):
                    await behaviours.ask(store, "Q", "t1", f"turn{number}", "answer " * 500)
                    acknowledged.append(number)

            async def lines():
                for number in range(500):
                    await worker.append("trace", f"line {number}\\n".encode())
                    appended.append(number)

            tasks = [asyncio.ensure_future(turns()), asyncio.ensure_future(lines())]
            await asyncio.sleep(moment / 1_000)
            js.lines[js.lines.length - 1].worker.terminate()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(one, AgentError) and one.code == "lost" for one in done), done
            assert (await worker.execute("PRAGMA integrity_check")) == [{"integrity_check": "ok"}]
            states = [[message.turn, message.role, message.state] for message in await store.history("t1")]
            rows = [len(await rows("t1")) for rows in (store.tool_calls, store.thoughts, store.artifacts)]
            try:
                trace = (await worker.read("trace")).decode()
            except KeyError:
                trace = ""
            return [len(acknowledged), len(appended), states, rows, trace]
            """,
            moment=moment,
        )
        answered = [turn for turn, role, _ in states if role == "assistant"]
        asked = {turn: state for turn, role, state in states if role == "user"}
        assert len(answered) in (acknowledged, acknowledged + 1)
        assert rows == [len(answered)] * 3
        assert {turn for turn, state in asked.items() if state == "done"} == set(answered)
        assert list(asked.values()).count("open") <= 1
        whole = "".join(f"line {number}\n" for number in range(500))
        assert whole.startswith(trace)
        assert trace.count("\n") >= appended


def test_over_quota_an_append_keeps_what_was_there_and_a_write_leaves_nothing(
    browser: BrowserContext, blank_site: Path, assets: dict[str, Any], dist: Path
) -> None:
    with SiteServer(blank_site, mounts={"/agent": dist / "agent"}) as server:
        python = open_python(browser, server, assets)
        python.run("worker = storage('quota'); await worker.open(); await worker.append('trace', b'whole line;')")
        tools = browser.new_cdp_session(python.page)
        tools.send("Storage.overrideQuotaForOrigin", {"origin": server.url, "quotaSize": 2_000_000})
        errors = python.run(
            """
            js.lines[js.lines.length - 1].worker.terminate()
            worker = storage("quota")
            await worker.open()
            errors = []
            for work in (worker.append("trace", bytes(5_000_000)), worker.write("result", bytes(5_000_000))):
                try:
                    await work
                except AgentError as error:
                    errors.append(error_of(error))
            assert await worker.read("trace") == b"whole line;"
            try:
                await worker.read("result")
            except KeyError:
                errors.append("gone")
            return errors
            """
        )
        tools.send("Storage.overrideQuotaForOrigin", {"origin": server.url})
        python.run("worker = storage('quota2'); await worker.open(); await worker.append('trace', b'next;')")
        python.page.close()
    assert [error["code"] for error in errors[:2]] == ["full", "full"]
    assert errors[0]["hint"]
    assert errors[2] == "gone"


#: A write that is cut: after a part of 777 bytes with an error, after a part of 778 bytes without one.
CUT_WRITES = """{
  const whole = FileSystemSyncAccessHandle.prototype.write;
  FileSystemSyncAccessHandle.prototype.write = function (data, options) {
    if (data.length !== 777 && data.length !== 778) return whole.call(this, data, options);
    const written = whole.call(this, data.subarray(0, 300), options);
    if (data.length === 777) throw new DOMException("no space", "QuotaExceededError");
    return written;
  };
}"""


def test_a_write_that_is_cut_in_the_middle_leaves_no_part(
    browser: BrowserContext, blank_site: Path, assets: dict[str, Any], dist: Path
) -> None:
    script = (dist / "agent" / assets["storage"]).read_text(encoding="utf-8")
    broken = Canned(200, f"{CUT_WRITES};\n{script}".encode(), "text/javascript")
    canned = {"/agent/" + assets["storage"]: broken}
    with SiteServer(blank_site, mounts={"/agent": dist / "agent"}, canned=canned) as server:
        python = open_python(browser, server, assets)
        codes = python.run(
            """
            worker = storage("cut")
            await worker.open()
            await worker.append("trace", b"whole line;")
            codes = []
            for length in (777, 778):
                for work in (worker.append("trace", bytes(length)), worker.write("result", bytes(length))):
                    try:
                        await work
                    except AgentError as error:
                        codes.append(error.code)
                assert await worker.read("trace") == b"whole line;"
                try:
                    await worker.read("result")
                except KeyError:
                    codes.append("gone")
            await worker.append("trace", b"next;")
            assert await worker.read("trace") == b"whole line;next;"
            return codes
            """
        )
        python.page.close()
    assert codes == ["full", "full", "gone"] * 2
