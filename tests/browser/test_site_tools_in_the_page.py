"""A site's own tools in the page: a wheel from the site's own origin, pinned by its hash."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import Canned, SiteServer
from py_agent.testing.chromium import open_chromium
from py_agent.testing.driver import WidgetDriver
from tests.browser.test_reader_in_the_page import DONE, ENGINE, call

pytestmark = pytest.mark.browser

WHEEL = "/shop-1.0-py3-none-any.whl"

SOURCE = """
from py_agent.model.tool import Tool, ToolArgs, ToolResult

class Part(ToolArgs):
    part: str

async def count(args, _context):
    return ToolResult(text=f"3 {args.part} in stock.")

async def order(args, _context):
    return ToolResult(text=f"One {args.part} ordered.")

def tools(_turn):
    return [
        Tool(name="stock", description="Counts a part.", args=Part, handler=count, pure=True),
        Tool(name="order", description="Orders a part.", args=Part, handler=order),
    ]
"""


def wheel(source: str = SOURCE, **more: str) -> bytes:
    """A pure wheel with the module ``shop``."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("shop.py", source)
        archive.writestr("shop-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n")
        archive.writestr("shop-1.0.dist-info/entry_points.txt", "[py_agent.tools]\ntools = shop:tools\n")
        for name, text in more.items():
            archive.writestr(name, text)
    return data.getvalue()


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    with open_chromium() as context:
        yield context


Visit = Callable[..., tuple[WidgetDriver, list[str], SiteServer]]


@pytest.fixture
def visit(docs: Path, index: Path, dist: Path, assets: dict[str, Any], browser: BrowserContext) -> Iterator[Visit]:
    """Opens a page with a wheel of tools; gives back the driver, what the console says, and the server."""
    with SiteServer(docs, mounts={"/agent": dist / "agent", "/agent/index": index}) as server:
        server.canned[f"/agent/{assets['engine']}"] = Canned(200, ENGINE.read_bytes(), "text/javascript")
        drivers: list[WidgetDriver] = []

        def visit(
            script: list[dict[str, Any]],
            data: bytes,
            *,
            sha256: str = "",
            address: str = WHEEL,
            harness: str = "worker",
        ) -> tuple[WidgetDriver, list[str], SiteServer]:
            server.canned[WHEEL] = Canned(200, data, "application/octet-stream")
            pin = sha256 or hashlib.sha256(data).hexdigest()
            server.inject = (
                '<script src="/agent/py-agent.js" data-index="/agent/index/manifest.json" data-engine="litert"'
                f' data-model-url="/model.litertlm?script={quote(json.dumps(script))}" data-harness="{harness}"'
                f' data-tools="{address}#sha256={pin}"></script>'
            )
            page = browser.new_page()
            said: list[str] = []
            page.on("console", lambda message: said.append(message.text))
            page.goto(server.url + "/install.html")
            drivers.append(WidgetDriver(page))
            return drivers[-1], said, server

        yield visit
        for driver in drivers:
            driver.page.close()


@pytest.mark.parametrize("harness", ["worker", "main"])
def test_the_sites_tool_runs_and_one_with_an_effect_waits_for_the_reader(visit: Visit, harness: str) -> None:
    script = [call("stock", part="wicks"), call("order", part="wick"), DONE]
    driver, said, _ = visit(script, wheel(), harness=harness)
    assert driver.open() == "ready"
    ask = driver.begin("Order a wick.")
    gate = driver.element.locator(".gate")
    gate.wait_for()
    assert "order" in gate.inner_text()
    gate.get_by_role("button", name="Allow", exact=True).click()
    assert driver.wait(ask).status == "abstained"
    assert [text for text in said if "py-agent:" in text] == []


def test_a_wheel_that_was_changed_is_not_run(visit: Visit) -> None:
    data = wheel()
    driver, said, _ = visit([call("stock", part="wicks"), DONE], data, sha256="0" * 64)
    assert driver.open() == "ready"
    assert driver.ask("How many wicks are there?").status == "abstained"
    told = [text for text in said if "was pinned" in text]
    assert len(told) == 1
    assert "0" * 64 in told[0]
    assert hashlib.sha256(data).hexdigest() in told[0]


def test_a_wheel_that_cannot_be_imported_is_told_and_the_chat_goes_on(visit: Visit) -> None:
    driver, said, _ = visit([DONE], wheel("import numpy"))
    assert driver.open() == "ready"
    assert driver.ask("How many wicks are there?").status == "abstained"
    assert [text for text in said if "cannot be imported: ModuleNotFoundError" in text]


def test_a_wheel_cannot_stand_in_for_a_module_of_ours(visit: Visit) -> None:
    broken = {"py_agent/tools/units.py": "raise SystemError", "simpleeval.py": "raise SystemError"}
    arguments = {"name": "convert_units", "arguments": {"amount": 1, "unit": "km", "to": "m"}}
    convert = {"call": {"name": "call_a_tool", "arguments": arguments}}
    driver, said, _ = visit([convert, DONE], wheel(**broken))
    assert driver.open() == "ready"
    assert driver.ask("How many metres is that?").status == "abstained"
    assert [text for text in said if "SystemError" in text] == []


@pytest.mark.parametrize(
    ("address", "sha256", "text"),
    [
        ("https://other.example/shop-1.0-py3-none-any.whl", "", "another origin"),
        ("/shop-1.0-py3-none-any.whl", "abc", "with its hash behind it"),
        ("/shop-1.0-cp311-cp311-linux_x86_64.whl", "", "a pure wheel"),
    ],
)
def test_a_wheel_from_elsewhere_or_without_a_hash_is_refused_at_the_tag(
    visit: Visit, address: str, sha256: str, text: str
) -> None:
    requests: list[str] = []
    driver, said, _ = visit([DONE], wheel(), address=address, sha256=sha256)
    driver.page.on("request", lambda request: requests.append(request.url))
    driver.page.reload()
    driver.page.wait_for_load_state("networkidle")
    assert [line for line in said if text in line]
    assert [url for url in requests if url.endswith(".whl")] == []


def test_a_wheel_that_moved_to_another_origin_is_not_followed(visit: Visit) -> None:
    driver, said, server = visit([DONE], wheel())
    with SiteServer(Path(__file__).parent) as other:
        server.canned[WHEEL] = Canned(302, location=f"{other.url}/shop.whl")
        assert driver.open() == "ready"
        assert driver.ask("How many wicks are there?").status == "abstained"
        assert [text for text in said if "cannot be fetched" in text]
        assert other.requests == []
