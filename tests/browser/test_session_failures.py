"""What the reader is told when the assistant cannot start: one state, one code, the address, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import Canned, SiteServer
from py_agent.testing.chromium import open_chromium
from tests.browser.client import Client

pytestmark = pytest.mark.browser

#: The smallest policy under which everything works, by directive.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self' 'wasm-unsafe-eval'",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "img-src": "data:",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    with open_chromium() as context:
        yield context


@pytest.fixture
def site(docs: Path, index: Path, dist: Path) -> Iterator[SiteServer]:
    """A server of its own for each test, to be made to misbehave."""
    with SiteServer(docs, mounts={"/agent": dist / "agent", "/agent/index": index}) as server:
        yield server


def start(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], host: str = "worker", **settings: Any
) -> Client:
    page = browser.new_page()
    page.goto(site.url)
    client = Client(page, assets)
    client.start(f"{site.url}/agent/", harness=host, **settings)
    return client


def failure(client: Client) -> dict[str, Any]:
    state = client.state("failed")
    assert state["message"]
    assert state["hint"]
    assert "Unexpected token" not in state["message"]
    refused = client.refused("search", query="lantern", top=1)
    assert (refused["code"], refused["message"]) == (state["code"], state["message"])
    client.page.close()
    return state


def header(**changed: str) -> dict[str, str]:
    policy = {**POLICY, **{name.replace("_", "-"): value for name, value in changed.items()}}
    return {"Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items())}


@pytest.mark.parametrize("host", ["worker", "main"])
def test_the_smallest_policy_is_enough(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], host: str
) -> None:
    site.headers.update(header())
    client = start(browser, site, assets, host)
    client.state("ready")
    assert client.console == []
    client.page.close()


def test_a_page_that_requires_trusted_types_hosts_the_harness(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any]
) -> None:
    site.headers.update(header(require_trusted_types_for="'script'", trusted_types="py-agent-host"))
    client = start(browser, site, assets, "main")
    client.state("ready")
    assert client.console == []
    client.page.close()


def test_trusted_types_that_do_not_list_the_host_are_named(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any]
) -> None:
    site.headers.update(header(require_trusted_types_for="'script'", trusted_types="other"))
    state = failure(start(browser, site, assets, "main"))
    assert state["code"] == "csp"
    assert "py-agent-host" in state["message"]


@pytest.mark.parametrize("host", ["worker", "main"])
def test_a_policy_without_webassembly_is_named(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], host: str
) -> None:
    site.headers.update(header(script_src="'self'"))
    state = failure(start(browser, site, assets, host))
    assert state["code"] == "csp"
    assert "wasm-unsafe-eval" in state["message"] + state["hint"]


@pytest.mark.parametrize("host", ["worker", "main"])
def test_a_policy_without_connections_is_named(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], host: str
) -> None:
    site.headers.update(header(connect_src="'none'"))
    state = failure(start(browser, site, assets, host))
    assert state["code"] == "csp"
    assert "connect-src" in state["message"]


def asset_paths(assets: dict[str, Any]) -> dict[str, str]:
    """Files of the boot, by what they are."""
    return {
        "archive": next(archive["url"] for archive in assets["archives"] if archive["name"] == "py-agent"),
        "runtime": assets["pyodide"]["module"],
        "wasm": assets["pyodide"]["index"] + "pyodide.asm.wasm",
        "stdlib": assets["pyodide"]["stdlib"],
        "lock": assets["pyodide"]["lock"],
        "sqlite": assets["sqliteWasm"],
    }


@pytest.mark.parametrize("what", ["archive", "runtime", "wasm", "stdlib", "lock", "sqlite"])
def test_a_missing_asset_is_named(browser: BrowserContext, site: SiteServer, assets: dict[str, Any], what: str) -> None:
    path = "/agent/" + asset_paths(assets)[what]
    site.canned[path] = Canned(404)
    state = failure(start(browser, site, assets))
    assert state["code"] == "missing_asset"
    assert path in state["message"]
    assert "404" in state["message"]


@pytest.mark.parametrize("what", ["archive", "runtime", "wasm", "stdlib", "lock"])
def test_a_page_that_came_instead_of_an_asset_is_named(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], what: str
) -> None:
    path = "/agent/" + asset_paths(assets)[what]
    site.canned[path] = Canned(200, b"<!DOCTYPE html><title>App</title>", "text/html")
    state = failure(start(browser, site, assets))
    assert state["code"] == "wrong_content"
    assert path in state["message"]
    assert "HTML" in state["message"]


def test_a_missing_storage_worker_is_named(browser: BrowserContext, site: SiteServer, assets: dict[str, Any]) -> None:
    site.canned["/agent/" + assets["storage"]] = Canned(404)
    state = failure(start(browser, site, assets))
    assert assets["storage"] in state["message"]


def test_a_damaged_archive_is_refused(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], dist: Path
) -> None:
    path = asset_paths(assets)["archive"]
    data = bytearray((dist / "agent" / path).read_bytes())
    data[len(data) // 2] ^= 1
    site.canned["/agent/" + path] = Canned(200, bytes(data), "application/wasm")
    state = failure(start(browser, site, assets))
    assert state["code"] == "damaged_asset"
    assert path in state["message"]


@pytest.mark.parametrize("host", ["worker", "main"])
def test_a_missing_index_says_how_to_build_one(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], host: str
) -> None:
    site.canned["/agent/index/manifest.json"] = Canned(404)
    state = failure(start(browser, site, assets, host))
    assert state["code"] == "missing_index"
    assert "/agent/index/manifest.json" in state["message"]
    assert "py-agent index" in state["hint"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<!doctype html><title>Not here</title>", "HTML"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b'{"format": 1', "JSON"),
        (b"", "empty"),
    ],
)
def test_what_came_instead_of_the_manifest_is_named(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], body: bytes, said: str
) -> None:
    site.canned["/agent/index/manifest.json"] = Canned(200, body, "application/json")
    state = failure(start(browser, site, assets))
    assert state["code"] == "wrong_content"
    assert "manifest.json" in state["message"]
    assert said in state["message"]


def test_a_manifest_of_something_else_is_damaged(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any]
) -> None:
    site.canned["/agent/index/manifest.json"] = Canned(200, b'{"name": "app", "files": {"a": 1}}', "application/json")
    state = failure(start(browser, site, assets))
    assert state["code"] in ("damaged", "wrong_content")
    assert "manifest" in state["message"]


def test_an_index_without_its_directory_is_named(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], index: Path
) -> None:
    part = next(path.name for path in index.iterdir() if path.name.startswith("directory-"))
    site.canned[f"/agent/index/{part}"] = Canned(404)
    state = failure(start(browser, site, assets))
    assert state["code"] == "missing_index"
    assert part in state["message"]


@pytest.mark.parametrize("harness", ["worker", "main"])
def test_a_part_of_the_index_that_is_missing_fails_the_question_and_not_the_chat(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any], index: Path, harness: str
) -> None:
    part = next(path.name for path in index.iterdir() if path.name.startswith("terms-"))
    site.canned[f"/agent/index/{part}"] = Canned(404)
    client = start(browser, site, assets, host=harness)
    client.state("ready")
    error = client.refused("search", query="light", top=3)
    assert error["code"] == "missing_index"
    assert part in error["message"]
    assert "reload it" in error["hint"]
    del site.canned[f"/agent/index/{part}"]
    assert client.call("search", query="light", top=3)["hits"]


def test_a_page_and_a_worker_of_two_builds_refuse_each_other(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any]
) -> None:
    state = failure(start(browser, site, assets, version=999))
    assert state["code"] == "version"


def test_after_a_failure_another_tab_may_lead(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any]
) -> None:
    path = "/agent/" + asset_paths(assets)["archive"]
    site.canned[path] = Canned(404)
    first = start(browser, site, assets)
    first.state("failed")
    del site.canned[path]
    second = start(browser, site, assets)
    second.state("ready")
    first.page.close()
    second.page.close()


def test_without_the_packages_of_a_question_search_works_and_the_question_says_why(
    browser: BrowserContext, site: SiteServer, assets: dict[str, Any]
) -> None:
    late = next(archive["url"] for archive in assets["archives"] if archive["late"])
    site.canned["/agent/" + late] = Canned(404)
    client = start(browser, site, assets)
    client.state("ready")
    assert client.call("search", query="light", top=3)["hits"]
    assert client.ask("How do I turn on the light?")["status"] == "failed"
    ends = client.evaluate("client.events.map((message) => message.event).filter((event) => event.type === 'turn_end')")
    assert ends[0]["error"]["code"] == "missing_asset"
    assert late in ends[0]["error"]["message"]
    del site.canned["/agent/" + late]
    assert client.ask("How do I turn on the light?")["status"] == "answered"
    client.page.close()
