"""The page's time zones, and its traces: what a turn leaves in the spool is enough to run it again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.replay import replay
from py_agent.site.serve import SiteServer
from py_agent.trace.lines import decode
from tests.browser.client import Client
from tests.browser.python_page import PythonPage

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def python(browser: BrowserContext, server: SiteServer, assets: dict[str, Any]) -> Iterator[PythonPage]:
    page = browser.new_page()
    page.goto(server.url)
    yield PythonPage(page, f"{server.url}/agent/", assets)
    page.close()


def test_time_zones_are_the_browsers(python: PythonPage) -> None:
    found = python.run(
        """
        import datetime as dt
        from py_agent.browser.clock import zone_offset
        moments = [dt.datetime(2026, month, 4, 9, 30, tzinfo=dt.UTC) for month in (3, 7)]
        offsets = {name: [zone_offset(name, moment) for moment in moments] for name in names}
        try:
            zone_offset("Mars/Olympus", moments[0])
        except ValueError as error:
            offsets["refused"] = str(error)
        return offsets
        """,
        names=["Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "UTC"],
    )
    assert found == {
        "Europe/Berlin": [60, 120],
        "Asia/Kolkata": [330, 330],
        "America/St_Johns": [-210, -150],
        "UTC": [0, 0],
        "refused": "Mars/Olympus",
    }


def test_a_turn_in_the_page_leaves_a_trace_that_runs_again_here(
    browser: BrowserContext, docs_server: SiteServer, assets: dict[str, Any]
) -> None:
    page = browser.new_page()
    page.goto(docs_server.url)
    client = Client(page, assets)
    client.start(f"{docs_server.url}/agent/")
    client.state("ready")
    assert client.ask("How do I turn on the light?")["status"] == "answered"
    client.stop()
    page.wait_for_timeout(300)
    files: list[list[Any]] = page.evaluate(
        """async () => {
          const found = [];
          const walk = async (folder, path) => {
            for await (const [name, handle] of folder.entries()) {
              if (handle.kind === "directory") await walk(handle, `${path}/${name}`);
              else found.push([`${path}/${name}`, [...new Uint8Array(await (await handle.getFile()).arrayBuffer())]]);
            }
          };
          await walk(await navigator.storage.getDirectory(), "");
          return found;
        }"""
    )
    page.close()
    traces = [bytes(data) for path, data in files if bytes(data).startswith(b'{"k":"turn"')]
    assert len(traces) == 1
    with ThreadPoolExecutor() as pool:  # this thread's event loop is the browser driver's
        report = pool.submit(lambda: asyncio.run(replay(decode(traces[0])))).result()
    assert report.departure is None
    assert report.complete
    assert report.events > 20
