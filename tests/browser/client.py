"""A page without a widget that speaks the session port: what the tests of the workers drive."""

from __future__ import annotations

import json
import time
from typing import Any

from playwright.sync_api import Page

#: Runs in the page. Keeps every message; `call` resolves with the answer to one request.
_CLIENT = """
window.client = {
  states: [], events: [], calls: new Map(), count: 0,
  async start(agent, assets, config, harness, version) {
    const absolute = (value) => typeof value === "string" ? new URL(value, agent).href : value;
    for (const key in assets) assets[key] = absolute(assets[key]);
    for (const key in assets.pyodide) assets.pyodide[key] = absolute(assets.pyodide[key]);
    for (const archive of assets.archives) archive.url = absolute(archive.url);
    if (harness === "main") {
      const channel = new MessageChannel();
      this.port = channel.port1;
      this.host = (await import(assets.host)).startHost(channel.port2);
    } else {
      this.port = this.worker = new Worker(assets.session, {type: "module"});
      this.worker.onerror = (e) => this.states.push({type: "state", state: "crashed", message: e.message});
    }
    this.port.onmessage = ({data}) => this.receive(data);
    this.port.postMessage({type: "start", version, assets, config});
  },
  receive(message) {
    if (message.type === "state") this.states.push(message);
    else if (message.type === "event") {
      this.events.push(message);
      if (this.onFirstEvent) { this.onFirstEvent(message); this.onFirstEvent = null; }
    } else { const done = this.calls.get(message.id); this.calls.delete(message.id); done?.(message); }
  },
  send(message) {
    const id = `page-${++this.count}`;
    const answer = new Promise((resolve) => this.calls.set(id, resolve));
    this.port.postMessage({...message, id});
    return {id, answer};
  },
  call(message) { return this.send(message).answer; },
  stop() { this.worker?.terminate(); this.host?.terminate(); },
};
"""

#: Seconds for one call at most: a request that is never answered must fail its test, not hang the suite.
LIMIT_S = 60

#: Seconds between two looks at the page's state.
_POLL_S = 0.05


class Client:
    """One tab. ``page`` must already be on the site. Goes through the protocol of the developer tools, which needs no
    ``eval`` in the page: it works under a strict content security policy."""

    def __init__(self, page: Page, assets: dict[str, Any]) -> None:
        self.page = page
        self.assets = assets
        self.console: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))
        self._tools = page.context.new_cdp_session(page)

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.console.append(f"{kind}: {text}")

    def evaluate(self, expression: str, **names: Any) -> Any:
        """The value of a JavaScript expression, awaited; ``names`` are its variables."""
        values = ", ".join(json.dumps(value) for value in names.values())
        work = f"(async ({', '.join(names)}) => ({expression}))({values})"
        limit = f"new Promise((_, no) => setTimeout(() => no(new Error('no answer')), {LIMIT_S * 1_000}))"
        code = f"Promise.race([{work}, {limit}])"
        answer = self._tools.send("Runtime.evaluate", {"expression": code, "awaitPromise": True, "returnByValue": True})
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def start(self, agent: str, *, harness: str = "worker", index: str = "", version: int = 1, **config: Any) -> None:
        """Starts the session. ``agent``: URL of the built folder, with a trailing slash."""
        settings = {
            "index": index or f"{agent}index/manifest.json",
            "engine": "extractive",
            "modelUrl": None,
            "baseUrl": None,
            "modelName": "",
            "tools": None,
            "backend": "CPU",
            "window": 512,
            "harness": harness,
            **config,
        }
        self._tools.send("Runtime.evaluate", {"expression": _CLIENT})
        self.evaluate(
            "client.start(agent, assets, config, harness, version)",
            agent=agent,
            assets=self.assets,
            config=settings,
            harness=harness,
            version=version,
        )

    def states(self) -> list[str]:
        """The states so far, in order."""
        states: list[str] = self.evaluate("client.states.map((message) => message.state)")
        return states

    def state(self, wanted: str, timeout: float = 30) -> dict[str, Any]:
        """Waits for a state; another one that is final fails the test."""
        deadline = time.monotonic() + timeout
        while True:
            state: dict[str, Any] | None = self.evaluate("client.states.at(-1) ?? null")
            if state and state["state"] == wanted:
                return state
            final = state is not None and state["state"] in ("failed", "crashed", "ready")
            assert not final, state
            assert time.monotonic() < deadline, f"still {state} after {timeout} s"
            time.sleep(_POLL_S)

    def call(self, type: str, **fields: Any) -> Any:
        """Sends a request and waits for its answer; returns the value."""
        answer = self.evaluate("client.call(message)", message={"type": type, **fields})
        assert answer["type"] == "result", answer
        return answer["value"]

    def refused(self, type: str, **fields: Any) -> dict[str, str]:
        """Sends a request that must fail; returns the error."""
        answer = self.evaluate("client.call(message)", message={"type": type, **fields})
        assert answer["type"] == "error", answer
        error: dict[str, str] = answer["error"]
        return error

    def ask(self, text: str) -> Any:
        """Asks in the latest thread and waits for the answer."""
        return self.call("ask", text=text, thread=None, page=None)

    def messages(self) -> list[tuple[str, str]]:
        """Role and state of each message of the latest thread."""
        return [(message["role"], message["state"]) for message in self.call("thread")["messages"]]

    def stop(self) -> None:
        """Ends the session as a page does that goes away."""
        self.evaluate("client.stop()")
