"""Builds the harness in the page and joins it to the JavaScript host (``worker/host.js``), which calls ``start``."""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import sys
import time
import traceback
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from js import console
from pyodide.ffi import create_proxy

from py_agent.agent import DocsAgent
from py_agent.browser.port import WorkerPort, error_of
from py_agent.browser.protocol import wire_text
from py_agent.browser.session import Session
from py_agent.browser.storage import StorageWorker
from py_agent.browser.wires import LineWire
from py_agent.engines.base import Engine
from py_agent.engines.litert import LitertEngine, LitertSettings
from py_agent.model.config import YIELD_MS_MAIN, YIELD_MS_WORKER, AgentConfig
from py_agent.model.errors import AgentError, SearchIndexError
from py_agent.runner.breathe import Breather
from py_agent.search import open_index
from py_agent.search.shards import Fetch
from py_agent.storage.keys import sweep, trace_key
from py_agent.storage.store import Store
from py_agent.tools.site_tools import SiteTools, from_entry_points
from py_agent.tools.toolset import is_reserved
from py_agent.trace.tracing import Tracing

#: Seconds before the warm-up: the answer of ``start`` and the page's first request go out first.
WARM_UP_DELAY_S = 0.1


async def start(bridge: Any, text: str) -> str:
    """Builds everything and listens to the page from then on.

    Args:
        bridge: The JavaScript host's ``bridge``: ``send``, ``listen``, ``line``, ``late``, ``manifest``, ``file``,
            ``siteTools``.
        text: The settings as JSON: the protocol's ``SessionConfig`` with ``directory``, ``sqliteWasm``, ``litertWasm``.

    Returns:
        JSON: ``{"engine": EngineInfo, "timings": {phase: ms}}`` or ``{"error": {"code", "message", "hint"}}``.
    """
    try:
        return json.dumps(await _start(bridge, json.loads(text)))
    except AgentError as error:
        return json.dumps({"error": error.to_json()})
    except Exception as error:
        console.error("py-agent: " + traceback.format_exc())
        failure = AgentError(
            f"The assistant could not be built: {type(error).__name__}: {error}.",
            hint="Reload the page. If it happens again, report it with this text.",
            code="internal",
        )
        return json.dumps({"error": failure.to_json()})
    finally:
        gc.freeze()  # what boot has made stays for good: later collections need not look at it
        gc.enable()


async def _start(bridge: Any, settings: dict[str, Any]) -> dict[str, Any]:
    timings: dict[str, int] = {}
    yield_ms = YIELD_MS_MAIN if settings["harness"] == "main" else YIELD_MS_WORKER

    storage = StorageWorker(
        WorkerPort(LineWire(bridge.line("storage")), "storage worker"),
        wasm=settings["sqliteWasm"],
        directory=settings["directory"],
    )
    store = Store(storage)
    storage.after_reopening = store.open

    async def open_store() -> None:
        begin = time.perf_counter()
        await storage.open()
        await store.open()
        await sweep(store, storage)
        timings["storage"] = _ms_since(begin)

    opening = asyncio.ensure_future(open_store())
    begin = time.perf_counter()
    search = await open_index(bridge.manifest.encode(), _fetch(bridge), breathe=Breather(yield_ms))
    timings["open_index"] = _ms_since(begin)
    await opening

    engine = _engine(bridge, settings)
    begin = time.perf_counter()
    await engine.open(lambda loaded, total: _report(bridge, loaded, total))
    timings["engine"] = _ms_since(begin)

    named: dict[str, Any] = {"title": search.manifest.title} if search.manifest.title else {}
    config = AgentConfig(yield_ms=yield_ms, **named)
    tools = SiteTools(is_reserved, lambda text: console.error("py-agent: " + text))
    agent = DocsAgent(
        engine,
        search,
        store,
        storage,
        config,
        prepare=lambda: _late(bridge, tools if settings["tools"] else None),
        tools=tools,
        tracing=Tracing(storage, trace_key, index=store),
        memories=store,
        instructions=store,
        zone_offset=_zone_offset,
    )
    session = Session(
        agent,
        search,
        store,
        storage,
        send=lambda message: bridge.send(wire_text(message)),
        root=urljoin(settings["index"], search.manifest.base_url),
        kept=storage.persistent,
        notice=storage.notice,
    )
    bridge.listen(create_proxy(_receiver(session)))
    session.in_background(_warm_up(agent))
    return {"engine": engine.info().model_dump(mode="json"), "timings": timings}


def _zone_offset(name: str, moment: datetime) -> int:
    # Imported only where it is used: few readers ask what time it is.
    from py_agent.browser.clock import zone_offset

    return zone_offset(name, moment)


async def _warm_up(agent: DocsAgent) -> None:
    """Does while the reader types what the first turn would pay for, once the page knows that it may ask."""
    await asyncio.sleep(WARM_UP_DELAY_S)
    with suppress(AgentError):  # the next question asks for the same again, and tells the reader if it fails again
        await agent.warm_up()


async def _late(bridge: Any, tools: SiteTools | None) -> None:
    """Adds the packages that only a question needs, and the site's own tools if it has some.

    Raises:
        AgentError: One cannot be fetched.
    """
    failure = await bridge.late()
    if failure:
        raise error_of(json.loads(failure))
    importlib.invalidate_caches()
    if tools is None:
        return
    try:
        answer = json.loads(await bridge.siteTools())
        if "error" in answer:
            raise error_of(answer["error"])
        # At the end: a module in it cannot stand in for one of ours.
        sys.path.append(answer["folder"])
        importlib.invalidate_caches()
        tools.use(from_entry_points())
    except AgentError as error:
        # The owner's mistake is no reader's: the chat goes on without the tools.
        console.error(f"py-agent: {error}")


def _fetch(bridge: Any) -> Fetch:
    """Gets the index's files through the worker's fetch."""

    async def fetch(name: str) -> bytes:
        answer = await bridge.file(name)
        if isinstance(answer, str):
            error = json.loads(answer)
            raise SearchIndexError(error["message"], hint=error["hint"], code=error["code"])
        data: bytes = answer.to_bytes()
        return data

    return fetch


def _engine(bridge: Any, settings: dict[str, Any]) -> Engine:
    if settings["engine"] == "litert":
        port = WorkerPort(LineWire(bridge.line("engine")), "engine worker")
        return LitertEngine(
            port,
            LitertSettings(
                wasm=settings["litertWasm"],
                model=settings["modelUrl"],
                backend=settings["backend"],
                window=settings["window"],
            ),
        )
    if settings["engine"] == "openai":
        from py_agent.browser.fetch import FetchPort
        from py_agent.engines.openai import OpenAiEngine, OpenAiSettings

        remote = OpenAiSettings(base_url=settings["baseUrl"], model=settings["modelName"], window=settings["window"])
        return OpenAiEngine(FetchPort(), remote)
    # Imported only where it is used: a page with a model does without its bytes in memory.
    from py_agent.engines.extractive import ExtractiveEngine

    return ExtractiveEngine()


def _receiver(session: Session) -> Any:
    closing: list[asyncio.Task[None]] = []

    def receive(text: str) -> None:
        # Nothing may be raised here: it would be an "Uncaught PythonError" and the page would wait for ever.
        try:
            message = json.loads(text)
            if message["type"] == "close":  # not of the page: the JavaScript host is being terminated
                closing.append(asyncio.get_running_loop().create_task(session.close()))
            else:
                session.receive(message)
        except Exception:
            console.error("py-agent: a message of the page could not be handled: " + traceback.format_exc())

    return receive


def _report(bridge: Any, loaded: int, total: int | None) -> None:
    """Tells the page how far the model's download is."""
    of = f" of {total / 1e6:.0f}" if total else ""
    state = {"type": "state", "state": "loading", "message": f"Loading the model: {loaded / 1e6:.0f}{of} MB"}
    empty = {"code": None, "hint": "", "engine": None, "timings": None}
    bridge.send(json.dumps({**state, **empty}))


def _ms_since(begin: float) -> int:
    return round((time.perf_counter() - begin) * 1_000)
