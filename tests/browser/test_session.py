"""The harness in the page, under both hosts: boot, turns, threads, tabs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import Canned, SiteServer
from py_agent.testing.chromium import open_chromium
from tests.browser import opfs
from tests.browser.client import Client

pytestmark = pytest.mark.browser

HOSTS = ("worker", "main")
QUESTION = "How do I install the lantern?"


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """One Chromium with a profile on disk, for all tests of the module."""
    with open_chromium() as context:
        yield context


@pytest.fixture
def agent(docs_server: SiteServer) -> str:
    return f"{docs_server.url}/agent/"


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def clients(browser: BrowserContext, docs_server: SiteServer, assets: dict[str, Any]) -> Iterator[list[Client]]:
    """Tabs of the test, with nothing stored at the start; ``new_tab`` adds to them."""
    page = browser.new_page()
    page.goto(docs_server.url)
    tools = browser.new_cdp_session(page)
    tools.send("Storage.clearDataForOrigin", {"origin": docs_server.url, "storageTypes": "all"})
    page.close()
    opened: list[Client] = []
    yield opened
    for client in opened:
        client.page.close()


@pytest.fixture
def new_tab(browser: BrowserContext, docs_server: SiteServer, assets: dict[str, Any], clients: list[Client]) -> Any:
    def open_tab() -> Client:
        page = browser.new_page()
        page.goto(docs_server.url)
        clients.append(Client(page, assets))
        return clients[-1]

    return open_tab


def test_python_boots_searches_and_answers_with_a_citation(new_tab: Any, agent: str, host: str) -> None:
    tab = new_tab()
    tab.start(agent, harness=host)
    ready = tab.state("ready")
    assert ready["engine"]["name"] == "extractive"
    assert ready["engine"]["model"] is None
    assert {"pyodide", "archives", "unpack", "import", "index", "storage", "total"} <= set(ready["timings"])
    assert tab.states()[0] == "loading"

    found = tab.call("search", query="install lantern", top=3)
    assert found["hits"][0]["passage"]["link"] == agent.removesuffix("agent/") + "install.html#install"

    answer = tab.ask(QUESTION)
    assert answer["status"] == "answered"
    assert answer["sources"][0]["link"] == agent.removesuffix("agent/") + "install.html#install"
    assert answer["sources"][0]["quote"]
    events = tab.evaluate("client.events.map((message) => message.event.type)")
    assert events[0] == "turn_start"
    assert events[-1] == "turn_end"
    assert tab.messages() == [("user", "done"), ("assistant", "done")]
    assert tab.console == []


def test_a_request_that_came_while_python_boots_is_answered(new_tab: Any, agent: str) -> None:
    tab = new_tab()
    tab.start(agent)
    assert tab.call("search", query="install lantern", top=1)["hits"]


def test_a_reload_keeps_the_thread(new_tab: Any, agent: str, host: str) -> None:
    tab = new_tab()
    tab.start(agent, harness=host)
    tab.state("ready")
    tab.ask(QUESTION)
    before = tab.call("thread")
    assert before["kept"] is True
    assert before["notice"] == ""
    tab.page.reload()
    tab.start(agent, harness=host)
    tab.state("ready")
    assert tab.call("thread") == before
    assert "waiting" not in tab.states()
    tab.call("new_thread")
    assert tab.messages() == []


def test_tool_results_are_really_spooled_to_the_private_file_system(new_tab: Any, agent: str) -> None:
    tab = new_tab()
    tab.start(agent)
    tab.state("ready")
    tab.ask(QUESTION)
    files = tab.evaluate(
        """(async () => {
          const found = [];
          const walk = async (folder, path) => {
            for await (const [name, handle] of folder.entries()) {
              if (handle.kind === "directory") await walk(handle, `${path}/${name}`);
              else found.push([`${path}/${name}`, (await handle.getFile()).size]);
            }
          };
          await walk(await navigator.storage.getDirectory(), "");
          return found;
        })()"""
    )
    spooled = [size for path, size in files if "/spool/" in path]
    assert spooled
    assert all(spooled)
    assert any("/sqlite/" in path for path, _ in files)


def test_a_deleted_conversation_stands_in_no_file_of_the_site(new_tab: Any, agent: str) -> None:
    """Its messages, what its tools found, and its traces: all that a real turn leaves."""
    tab = new_tab()
    tab.start(agent)
    tab.state("ready")
    tab.ask("How do I install the lantern, Walrossgeheimnis?")
    thread = tab.call("thread")["thread"]
    traces = {path for path, data in opfs.files(tab.page).items() if b'"k":"turn"' in data.replace(b" ", b"")}
    assert len(traces) == 1
    assert tab.call("export_thread", thread=thread)["text"].count('"data": "') >= 1
    tab.call("new_thread")
    tab.ask("How do I turn on the light, Seehundgeheimnis?")

    def files_with(word: bytes) -> list[str]:
        return [path for path, data in opfs.files(tab.page).items() if word in data.lower()]

    assert len(files_with(b"walrossgeheimnis")) >= 2
    assert tab.call("delete_thread", thread=thread) is True
    assert files_with(b"walrossgeheimnis") == []
    assert files_with(b"seehundgeheimnis") != []
    assert tab.call("delete_thread", thread=None) is True
    assert files_with(b"seehundgeheimnis") == []
    assert not [path for path in opfs.files(tab.page) if "/spool/" in path]
    assert tab.console == []


def test_stop_ends_the_turn_and_the_next_question_is_answered(new_tab: Any, agent: str, host: str) -> None:
    tab = new_tab()
    tab.start(agent, harness=host)
    tab.state("ready")
    stopped = tab.evaluate(
        """new Promise((resolve) => {
          client.onFirstEvent = ({id}) => client.call({type: "stop", ask: id});
          client.call({type: "ask", text: question, thread: null, page: null}).then(resolve);
        })""",
        question=QUESTION,
    )
    assert stopped["error"]["code"] == "stopped"
    assert tab.ask(QUESTION)["status"] == "answered"
    assert tab.messages() == [("user", "interrupted"), ("user", "done"), ("assistant", "done")]


def test_a_turn_that_dies_with_its_worker_is_interrupted_after_the_restart(new_tab: Any, agent: str) -> None:
    tab = new_tab()
    tab.start(agent)
    tab.state("ready")
    tab.evaluate(
        """new Promise((resolve) => {
          client.onFirstEvent = () => { client.stop(); resolve(); };
          client.call({type: "ask", text: question, thread: null, page: null});
        })""",
        question=QUESTION,
    )
    tab.start(agent)
    tab.state("ready")
    assert tab.messages() == [("user", "interrupted")]


def test_a_second_tab_waits_searches_and_takes_over(new_tab: Any, agent: str, host: str) -> None:
    first, second = new_tab(), new_tab()
    first.start(agent, harness=host)
    first.state("ready")
    first.ask(QUESTION)
    second.start(agent, harness=host)
    waiting = second.state("waiting")
    assert "open in another tab" in waiting["message"]
    assert waiting["code"] == "waiting"
    found = second.call("search", query="install lantern", top=1)
    assert found["hits"][0]["passage"]["link"].endswith("install.html#install")
    assert second.refused("ask", text=QUESTION, thread=None, page=None)["code"] == "waiting"
    assert second.evaluate("performance.getEntriesByType('resource').filter((e) => /pyodide/.test(e.name)).length") == 0
    first.page.close()
    second.state("ready")
    assert second.states() == ["loading", "waiting", "loading", "ready"]
    assert second.messages() == [("user", "done"), ("assistant", "done")]
    assert second.ask(QUESTION)["status"] == "answered"


def test_two_sites_of_one_origin_do_not_meet(new_tab: Any, agent: str) -> None:
    first, second = new_tab(), new_tab()
    first.start(agent)
    first.state("ready")
    first.ask(QUESTION)
    second.start(agent, index=agent.replace("/agent/", "/other/agent/index/manifest.json"))
    second.state("ready")
    assert second.messages() == []
    assert second.call("search", query="install lantern", top=1)["hits"][0]["passage"]["link"].endswith(
        "/other/install.html#install"
    )


def test_without_opfs_it_answers_and_says_that_nothing_is_kept(
    browser: BrowserContext, docs: Path, index: Path, dist: Path, assets: dict[str, Any], host: str
) -> None:
    script = (dist / "agent" / assets["storage"]).read_bytes()
    broken = Canned(200, b"delete StorageManager.prototype.getDirectory;\n" + script, "text/javascript")
    mounts = {"/agent": dist / "agent", "/agent/index": index}
    with SiteServer(docs, mounts=mounts, canned={"/agent/" + assets["storage"]: broken}) as server:
        page = browser.new_page()
        page.goto(server.url)
        tab = Client(page, assets)
        tab.start(f"{server.url}/agent/", harness=host)
        tab.state("ready")
        assert tab.ask(QUESTION)["status"] == "answered"
        thread = tab.call("thread")
        page.close()
    assert thread["kept"] is False
    assert "not kept" in thread["notice"]
    assert [message["role"] for message in thread["messages"]] == ["user", "assistant"]


def test_the_bundle_may_lie_on_another_origin(
    browser: BrowserContext, docs: Path, index: Path, dist: Path, assets: dict[str, Any]
) -> None:
    cors = {"Access-Control-Allow-Origin": "*"}
    with (
        SiteServer(docs, mounts={"/index": index}) as site,
        SiteServer(docs, mounts={"/agent": dist / "agent"}, headers=cors) as host,
    ):
        page = browser.new_page()
        page.goto(site.url)
        tab = Client(page, assets)
        tab.start(f"{host.url}/agent/", harness="main", index=f"{site.url}/index/manifest.json")
        tab.state("ready")
        assert tab.ask(QUESTION)["status"] == "answered"
        assert tab.call("thread")["kept"] is True
        page.close()


def test_it_runs_where_the_browser_has_no_locks(new_tab: Any, agent: str) -> None:
    tab = new_tab()
    tab.evaluate("Object.defineProperty(navigator, 'locks', {value: undefined})")
    tab.evaluate("Object.defineProperty(crypto, 'subtle', {value: undefined})")
    tab.start(agent, harness="main")
    tab.state("ready")
    assert tab.ask(QUESTION)["status"] == "answered"
    assert tab.console == []
