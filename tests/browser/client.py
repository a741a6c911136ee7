"""A page without a widget that speaks the session port: what the tests of the workers drive."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

#: Runs in the page. Keeps every message; `call` resolves with the answer to one request.
_CLIENT = """
window.client = {
  states: [], events: [], calls: new Map(), count: 0,
  async start(agent, config, harness) {
    const assets = await (await fetch(new URL("assets.json", agent))).json();
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
    this.port.postMessage({type: "start", version: 1, assets, config});
  },
  receive(message) {
    if (message.type === "state") this.states.push(message);
    else if (message.type === "event") this.events.push(message);
    else { const done = this.calls.get(message.id); this.calls.delete(message.id); done?.(message); }
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


class Client:
    """One tab. ``page`` must already be on the site."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.console: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.console.append(f"{kind}: {text}")

    def start(self, agent: str, *, harness: str = "worker", index: str = "", **config: Any) -> None:
        """Starts the session. ``agent``: URL of the built folder, with a trailing slash."""
        settings = {
            "index": index or f"{agent}index/manifest.json",
            "engine": "extractive",
            "modelUrl": None,
            "backend": "CPU",
            "window": 512,
            "harness": harness,
            **config,
        }
        self.page.evaluate(_CLIENT)
        self.page.evaluate(
            "([agent, config, harness]) => client.start(agent, config, harness)", [agent, settings, harness]
        )

    def state(self, *wanted: str, timeout: float = 30) -> dict[str, Any]:
        """Waits for one of the states; any of them by default ends the wait too: ``failed``, ``crashed``."""
        names = [*wanted, "failed", "crashed"]
        self.page.wait_for_function(
            "names => names.includes(client.states.at(-1)?.state)", arg=names, timeout=timeout * 1_000
        )
        state: dict[str, Any] = self.page.evaluate("client.states.at(-1)")
        assert state["state"] in wanted, state
        return state

    def call(self, type: str, **fields: Any) -> Any:
        """Sends a request and waits for its answer; returns the value."""
        answer = self.page.evaluate("message => client.call(message)", {"type": type, **fields})
        assert answer["type"] == "result", answer
        return answer["value"]

    def refused(self, type: str, **fields: Any) -> dict[str, str]:
        """Sends a request that must fail; returns the error."""
        answer = self.page.evaluate("message => client.call(message)", {"type": type, **fields})
        assert answer["type"] == "error", answer
        error: dict[str, str] = answer["error"]
        return error

    def ask(self, text: str) -> Any:
        """Asks in the latest thread and waits for the answer."""
        return self.call("ask", text=text, thread=None, page=None)
