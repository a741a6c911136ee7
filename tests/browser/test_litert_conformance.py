"""The real LiteRT-LM, in Pyodide over the product's worker, passes the suite that every engine passes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import SiteServer
from tests.browser.python_page import PythonPage
from tests.engines import conformance

pytestmark = pytest.mark.browser

SOURCE = Path(conformance.__file__).read_text(encoding="utf-8")

_SUITE = """
import sys, types
conformance = types.ModuleType("conformance")
sys.modules["conformance"] = conformance
exec(compile(SOURCE, "conformance.py", "exec"), conformance.__dict__)

class Maker:
    scripted = False  # a real model says what it will
    engine = None

    async def __call__(self, *outputs, delay=0.0):
        if Maker.engine is None:
            settings = LitertSettings(wasm=js.assets.litertWasm, model=MODEL, backend="GPU", window=512)
            Maker.engine = LitertEngine(port("engine"), settings)
            await Maker.engine.open()
        return Maker.engine

behaviours = {behaviour.__name__: behaviour for behaviour in conformance.BEHAVIOURS}
"""


@pytest.fixture(scope="module")
def python(browser: BrowserContext, server: SiteServer, assets: dict[str, Any]) -> Iterator[PythonPage]:
    page = browser.new_page()
    page.goto(server.url)
    python = PythonPage(page, f"{server.url}/agent/", assets)
    names = f"SOURCE = {SOURCE!r}\nMODEL = {server.url + '/models/tiny-cpu.litertlm'!r}\n"
    page.evaluate("code => pyodide.runPython(code)", names + _SUITE)
    yield python
    page.close()


# Closing comes last: the engine is one for all of them.
@pytest.mark.parametrize("name", sorted((b.__name__ for b in conformance.BEHAVIOURS), key=lambda name: "close" in name))
def test_it_conforms(python: PythonPage, name: str) -> None:
    python.run("await behaviours[name](Maker())", name=name)
