"""``py-agent ask`` and ``py-agent replay``: the whole harness in the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click

from py_agent.agent import DocsAgent
from py_agent.cli.reading import FOLDER
from py_agent.engines.base import Engine
from py_agent.engines.extractive import ExtractiveEngine
from py_agent.model.config import AgentConfig
from py_agent.model.errors import ConfigError, StorageError
from py_agent.replay import replay
from py_agent.runner.events import TurnEnd
from py_agent.site.load import load_index
from py_agent.storage.keys import sweep, trace_key
from py_agent.storage.spool import FolderSpool, MemorySpool
from py_agent.storage.sqlite import open_database
from py_agent.storage.store import Store
from py_agent.tools.site_tools import SiteTools
from py_agent.tools.toolset import is_reserved
from py_agent.trace.lines import decode
from py_agent.trace.tracing import Tracing


@click.command()
@click.argument("index", type=FOLDER)
@click.argument("question")
@click.option("--engine", type=click.Choice(["extractive", "openai"]), default="extractive", show_default=True)
@click.option("--base-url", default="", help="For openai: address of the API, up to and including /v1.")
@click.option("--model", default="", help="For openai: the model's name there; by default the first that it lists.")
@click.option("--window", default=8_192, show_default=True, type=click.IntRange(1_024), help="For openai: in tokens.")
@click.option("--tools", default="", help="Further tools: MODULE:FUNCTION, called with the turn.")
@click.option("--db", default=":memory:", show_default=True, help="SQLite file that keeps the conversation.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("--trace", type=FOLDER, help="Write every event, prompts and completions included, as JSON lines.")
def ask(
    index: Path,
    question: str,
    engine: str,
    base_url: str,
    model: str,
    window: int,
    tools: str,
    db: str,
    as_json: bool,
    trace: Path | None,
) -> None:
    """Ask QUESTION of the folder INDEX: the whole harness, in the terminal.

    With the engine openai the variable PY_AGENT_API_KEY, if it is set, is sent as the key.
    """
    if not question.strip():
        raise ConfigError("The question is empty.", hint="Ask something.", code="bad_input")
    end = asyncio.run(_ask(index, question, _engine(engine, base_url, model, window), _site_tools(tools), db, trace))
    if as_json:
        click.echo(json.dumps({"question": question, **end.model_dump(mode="json")}, ensure_ascii=False))
    else:
        _show_turn(end)
    if end.status == "failed":
        raise SystemExit(1)


def _site_tools(name: str) -> SiteTools | None:
    if not name:
        return None
    module, _, function = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        make = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"--tools {name} cannot be imported: {error}.", hint="Name a module and a function: my_tools:tools."
        ) from error
    tools = SiteTools(is_reserved, lambda text: click.echo(text, err=True))
    tools.use(make)
    return tools


def _engine(name: str, base_url: str, model: str, window: int) -> Engine:
    if name == "extractive":
        return ExtractiveEngine()
    if not base_url:
        raise ConfigError("The engine openai needs a server.", hint="Give its address: --base-url http://HOST/v1.")
    from py_agent.engines.http import HttpxPort
    from py_agent.engines.openai import OpenAiEngine, OpenAiSettings

    key = os.environ.get("PY_AGENT_API_KEY", "").strip()
    return OpenAiEngine(HttpxPort(), OpenAiSettings(base_url=base_url, model=model, window=window, api_key=key))


async def _ask(
    index: Path, question: str, engine: Engine, tools: SiteTools | None, db: str, trace: Path | None
) -> TurnEnd:
    searcher = await load_index(index)
    connection, notice = open_database(db)
    if notice:
        click.echo(notice, err=True)
    store = Store(connection)
    try:
        with _trace_to(trace) as tracing:
            await store.open()
            spool = MemorySpool() if db == ":memory:" else FolderSpool(f"{db}-spool")
            await sweep(store, spool)
            await engine.open()
            config = AgentConfig(title=searcher.manifest.title)
            agent = DocsAgent(engine, searcher, store, spool, config, tracing=tracing, tools=tools)
            end = await agent.run_turn(await store.new_thread(), question)
            if tracing is not None and tracing.failure is not None:
                raise tracing.failure
            return end
    finally:
        await store.close()


class _OneFile:
    """The only trace of a run, in a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def append(self, key: str, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise StorageError(
                f"The trace cannot be written: {error.strerror or error}.", hint="Free some space.", code="full"
            ) from error

    async def delete(self, prefix: str) -> int:
        return 0


@contextlib.contextmanager
def _trace_to(trace: Path | None) -> Iterator[Tracing | None]:
    if trace is None:
        yield None
        return
    try:
        file = trace.open("wb")
    except OSError as error:
        raise ConfigError(
            f"{trace} cannot be written: {error.strerror or error}.", hint="Give another --trace FILE.", code="no_out"
        ) from error
    with file:
        yield Tracing(_OneFile(file), trace_key)


def _show_turn(end: TurnEnd) -> None:
    if end.error is not None:
        click.echo(f"Error: {end.error.get('message', '')} {end.error.get('hint', '')}".rstrip(), err=True)
    click.echo(end.answer)
    for heading, sources in (("Sources", end.sources), ("Related", end.related)):
        if sources:
            click.secho(f"\n{heading}", bold=True)
        for source in sources:
            click.echo(f"- {' > '.join(source.path) or source.title}: {source.url or source.page}")


@click.command(name="replay")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def replay_command(trace: Path, as_json: bool) -> None:
    """Run the turn of the file TRACE again, from the trace alone, and say where it departs. Ends with 1 if it does."""
    try:
        data = trace.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{trace} cannot be read: {error.strerror or error}.", hint="Name a file that `ask --trace` wrote."
        ) from error
    report = asyncio.run(replay(decode(data)))
    if as_json:
        click.echo(report.model_dump_json())
    elif report.departure is None:
        rest = "" if report.complete else "; the traced turn was stopped or killed there"
        click.echo(f"All {report.events} events came again{rest}.")
    else:
        click.echo(f"Departs at event {report.departure.number}: {report.departure.where}")
    if report.departure is not None:
        raise SystemExit(1)
