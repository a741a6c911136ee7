"""A page with our Python in it and nothing else: tests run Python code in Pyodide, against the product's workers."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from playwright.sync_api import Page

#: Seconds for one piece of Python at most: a call that is never answered must fail its test, not hang the suite.
LIMIT_S = 90

_BOOT = """
async ([agent, relative]) => {
  const absolute = (value) => typeof value === "string" ? new URL(value, agent).href : value;
  const assets = Object.fromEntries(Object.entries(relative).map(([key, value]) => [key, absolute(value)]));
  for (const key in assets.pyodide) assets.pyodide[key] = absolute(assets.pyodide[key]);
  for (const archive of assets.archives) archive.url = absolute(archive.url);
  const {addLatePackages, bootPython, Line, Stopwatch} = await import(assets.host);
  window.assets = assets;
  window.lines = [];
  window.newLine = (kind) => {
    const line = new Line(assets[kind], kind === "engine" ? "classic" : "module", `${kind} worker`);
    window.lines.push(line);
    return line;
  };
  window.pyodide = await bootPython(assets, new Stopwatch());
  await addLatePackages(assets, window.pyodide);
}
"""

_PRELUDE = """
import asyncio, json
from contextlib import aclosing
import js
from py_agent.browser.port import WorkerPort
from py_agent.browser.storage import StorageWorker
from py_agent.browser.wires import LineWire
from py_agent.engines.litert import LitertEngine, LitertSettings
from py_agent.model.errors import AgentError
from py_agent.model.prompt import CallSpec, GenerateOptions, Prompt, PromptMessage, ToolSpec

def port(kind):
    return WorkerPort(LineWire(js.newLine(kind)), f"{kind} worker")

def storage(directory="py-agent-test"):
    return StorageWorker(port("storage"), wasm=js.assets.sqliteWasm, directory=directory)

def error_of(error):
    return {"code": error.code, "message": error.message, "hint": error.hint}
"""


class PythonPage:
    """``page`` must already be on the site."""

    def __init__(self, page: Page, agent: str, assets: dict[str, Any]) -> None:
        self.page = page
        self.console: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))
        page.evaluate(_BOOT, [agent, assets])
        page.evaluate("code => pyodide.runPython(code)", _PRELUDE)

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.console.append(f"{kind}: {text}")

    def run(self, body: str, **names: Any) -> Any:
        """Runs ``body`` as an async function with ``names`` as its variables; returns what it returns, through JSON."""
        assign = "".join(f"    {name} = json.loads({json.dumps(json.dumps(value))})\n" for name, value in names.items())
        code = f"async def _body():\n{assign}{textwrap.indent(textwrap.dedent(body), '    ')}\n"
        result = self.page.evaluate(
            "code => pyodide.runPythonAsync(code)",
            code + f"json.dumps(await asyncio.wait_for(_body(), {LIMIT_S}), ensure_ascii=False)",
        )
        return json.loads(result)
