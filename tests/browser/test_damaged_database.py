"""Case S03 in Chromium: whatever has become of the database, the dialog opens, answers, saves, and tells it once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium
from py_agent.testing.driver import WidgetDriver
from tests.browser import opfs
from tests.browser.client import Client
from tests.storage.damage import KINDS, WORD, damaged

pytestmark = pytest.mark.browser

QUESTION = "How do I install the lantern?"


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    with open_chromium() as context:
        yield context


@pytest.fixture
def site(docs: Path, index: Path, dist: Path) -> Iterator[SiteServer]:
    """An origin of its own for each test."""
    with SiteServer(docs, mounts={"/agent": dist / "agent", "/agent/index": index}) as server:
        yield server


class Reader:
    """Comes to the site again and again."""

    def __init__(self, browser: BrowserContext, site: SiteServer, assets: dict[str, Any]) -> None:
        self.browser, self.site, self.assets = browser, site, assets

    def page(self) -> Page:
        page = self.browser.new_page()
        page.goto(self.site.url)
        return page

    def visit(self, *questions: str) -> dict[str, Any]:
        """Opens the dialog, asks, leaves; what the dialog was given to show at first."""
        tab = Client(self.page(), self.assets)
        tab.start(f"{self.site.url}/agent/")
        tab.state("ready")
        thread: dict[str, Any] = tab.call("thread")
        for question in questions:
            assert tab.ask(question)["status"] == "answered"
            assert [state for _, state in tab.messages()][-2:] == ["done", "done"]
        tab.stop()
        tab.page.close()
        return thread

    def damage(self, change: Callable[[bytes], bytes], at: int = opfs.HEADER) -> bytes:
        """Changes the database while nobody has it open; its new bytes."""
        page = self.page()
        directory = opfs.site_folder(page)
        path = opfs.pool_path(page, directory)
        log = opfs.pool_path(page, directory, "/agent.db-wal")
        assert path
        if log:
            opfs.overwrite(page, log, b"")
        data = change(opfs.files(page, directory)[path.removeprefix(f"{directory}/")][at:])
        opfs.overwrite(page, path, data, at)
        page.close()
        return data

    def copies(self) -> dict[str, bytes]:
        """What was set aside."""
        page = self.page()
        found = opfs.files(page, opfs.site_folder(page))
        page.close()
        return {path: data for path, data in found.items() if path.startswith("set-aside/")}

    def fill(self) -> None:
        """Many threads, written through to the database file."""
        tab = Client(self.page(), self.assets)
        tab.start(f"{self.site.url}/agent/")
        tab.state("ready")
        tab.ask(QUESTION)
        text = tab.call("export_thread", thread=tab.call("thread")["thread"])["text"]
        answer = WORD.decode() * 40
        for number in range(20):
            text = text.replace('"content": "', f'"content": "{answer if not number else ""}', 2)
            tab.call("import_thread", text=text)
        # The first deletion empties the log into the database.
        tab.call("delete_thread", thread=tab.call("thread")["thread"])
        tab.stop()
        tab.page.close()


@pytest.fixture
def reader(browser: BrowserContext, site: SiteServer, assets: dict[str, Any]) -> Reader:
    return Reader(browser, site, assets)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_damage_is_survived_and_told_once(reader: Reader, kind: str) -> None:
    reader.fill()
    broken = reader.damage(lambda good: damaged(kind, good))
    first = reader.visit(QUESTION)
    copies = reader.copies()
    if kind in ("zero", "wal_header"):
        assert first["notice"] == ""
        assert copies == {}
        assert bool(first["messages"]) is (kind == "wal_header")
    else:
        assert "set aside" in first["notice"]
        assert "sqlite" not in first["notice"].lower()
        assert first["messages"] == []
        assert list(copies.values()) == [broken]
    second = reader.visit(QUESTION)
    assert second["notice"] == ""
    assert [message["state"] for message in second["messages"]][-2:] == ["done", "done"]
    assert reader.copies() == copies


@pytest.mark.parametrize("part", ["name", "digest", "all"])
def test_a_file_whose_name_is_damaged_is_set_aside_before_the_pool_empties_it(reader: Reader, part: str) -> None:
    reader.visit(QUESTION)

    def change(raw: bytes) -> bytes:
        if part == "all":
            return b"This is no database. " * 400
        at = 0 if part == "name" else 516
        return raw[:at] + b"\x55\x55" + raw[at + 2 :]

    broken = reader.damage(change, at=0)
    first = reader.visit(QUESTION)
    assert "set aside" in first["notice"]
    assert list(reader.copies().values()) == [broken]
    assert reader.visit()["notice"] == ""


def test_the_dialog_shows_the_notice_and_the_conversation_goes_on(reader: Reader, browser: BrowserContext) -> None:
    reader.visit(QUESTION)
    reader.damage(lambda good: damaged("not_a_db", good))
    reader.site.inject = '<script src="/agent/py-agent.js" data-index="/agent/index/manifest.json"></script>'
    for expected in (1, 0):
        page = browser.new_page()
        page.goto(f"{reader.site.url}/install.html")
        driver = WidgetDriver(page)
        assert driver.open() == "ready"
        assert driver.ask(QUESTION).status == "answered"
        assert page.get_by_text("They were set aside").count() == expected
        page.close()


def test_a_log_without_its_database_is_set_aside_before_it_is_deleted(reader: Reader) -> None:
    reader.visit(QUESTION)
    page = reader.page()
    directory = opfs.site_folder(page)
    path, log = opfs.pool_path(page, directory), opfs.pool_path(page, directory, "/agent.db-wal")
    assert path
    assert log
    content = opfs.files(page, directory)[log.removeprefix(f"{directory}/")][opfs.HEADER :]
    opfs.overwrite(page, path, b"")
    page.close()
    first = reader.visit(QUESTION)
    assert "set aside" in first["notice"]
    assert list(reader.copies().values()) == [content]
    assert QUESTION.encode() in content
    assert reader.visit()["notice"] == ""


def test_deleting_everything_takes_the_copies_along(reader: Reader) -> None:
    reader.fill()
    reader.damage(lambda good: damaged("truncated", good) + b"walrossgeheimnis")
    reader.visit(QUESTION)
    assert any(b"walrossgeheimnis" in data for data in reader.copies().values())
    tab = Client(reader.page(), reader.assets)
    tab.start(f"{reader.site.url}/agent/")
    tab.state("ready")
    assert tab.call("delete_thread", thread=None) is True
    assert tab.call("threads", top=None, cursor=None) == {"threads": [], "next": None}
    tab.stop()
    tab.page.close()
    assert reader.copies() == {}
