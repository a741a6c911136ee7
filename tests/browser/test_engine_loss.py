"""The graphics process dies in the middle of an answer: one typed error, and the next question is answered in full.

In a Chromium of its own: a second loss within two minutes would take the adapter away from every tab.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import chromium_args, find_chromium
from tests.browser.python_page import PythonPage

pytestmark = pytest.mark.browser


def test_a_lost_device_is_told_once_and_the_model_comes_back(server: SiteServer, assets: dict[str, Any]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_chromium()), headless=True, args=chromium_args(webgpu=True)
        )
        page = browser.new_page()
        page.goto(server.url)
        python = PythonPage(page, f"{server.url}/agent/", assets)
        page.expose_function("crashGpu", lambda: browser.new_browser_cdp_session().send("Browser.crashGpuProcess"))
        codes, after = python.run(
            """
            own = port("engine")
            settings = LitertSettings(wasm=js.assets.litertWasm, model=url, backend="GPU_ARTISAN", window=512)
            model = LitertEngine(own, settings)
            await model.open()

            def prompt(text):
                system = PromptMessage(role="system", content="Answer briefly.")
                return Prompt(messages=(system, PromptMessage(role="user", content=text)))

            codes, taken = [], 0
            try:
                async with aclosing(model.generate(prompt("count to 40"), GenerateOptions())) as chunks:
                    async for chunk in chunks:
                        taken += 1
                        if taken == 3:
                            js.crashGpu()
            except AgentError as error:
                codes.append(error.code)
            else:
                codes.append("ended")
            async with aclosing(model.generate(prompt("hello"), GenerateOptions())) as chunks:
                after = "".join([chunk.text async for chunk in chunks if chunk.kind == "text"])
            own.close()
            return [codes, after]
            """,
            url=f"{server.url}/models/tiny-artisan.litertlm",
        )
        assert codes == ["lost"]
        assert after == "Hello! How can I help you?"
        assert [line for line in python.console if line.startswith("error")] == []
        browser.close()
