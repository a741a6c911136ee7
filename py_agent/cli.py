"""The command line: ``py-agent index | search | ask | replay | build | serve | eval``."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import click

from py_agent.agent import DocsAgent
from py_agent.engines.base import Engine
from py_agent.engines.extractive import ExtractiveEngine
from py_agent.evals.answers import read_answers, score
from py_agent.evals.answers import read_questions as read_labelled
from py_agent.model.config import AgentConfig
from py_agent.model.errors import AgentError, ConfigError, StorageError
from py_agent.replay import replay
from py_agent.runner.events import TurnEnd
from py_agent.search import IndexSearcher, SearchResult
from py_agent.site.address import MarkdownUrls
from py_agent.site.index import DEFAULT_BASE_URL, write_index
from py_agent.site.install import AGENT_FOLDER, LAUNCHER, copy_site, find_agent, has_tag, place_agent, script_tag
from py_agent.site.load import load_index
from py_agent.site.read import Skipped, find_files, read_site
from py_agent.site.serve import SiteServer
from py_agent.storage.keys import sweep, trace_key
from py_agent.storage.spool import FolderSpool, MemorySpool
from py_agent.storage.sqlite import open_database
from py_agent.storage.store import Store
from py_agent.trace.lines import decode
from py_agent.trace.tracing import Tracing

#: Files listed by name in the summary of `index`; all of them are listed with --verbose.
MAX_LISTED = 20
_FOLDER = click.Path(path_type=Path)


class _Group(click.Group):
    """Turns the product's own errors into one line and exit status 1; anything else is a bug and shows as such."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AgentError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="py-agent")
def main() -> None:
    """A docs chatbot that lives in the page: build its index, try it in the terminal, put it into a site."""


@main.command()
@click.argument("site", type=_FOLDER)
@click.option("--out", required=True, type=_FOLDER, help="Folder for the index; an index in it is replaced.")
@click.option(
    "--base-url",
    default=DEFAULT_BASE_URL,
    show_default=True,
    help="The site's root, relative to the manifest, or absolute.",
)
@click.option("--title", default="", help="Name of the site; by default what most pages say in their <title>.")
@click.option(
    "--md-urls",
    type=click.Choice(["html", "directory"]),
    default="html",
    show_default=True,
    help="Pages that Markdown files become.",
)
@click.option("--clean-urls", is_flag=True, help="The host serves page.html as page.")
@click.option("--verbose", is_flag=True, help="List every file that was skipped.")
def index(site: Path, out: Path, base_url: str, title: str, md_urls: str, clean_urls: bool, verbose: bool) -> None:
    """Index the HTML and Markdown files of the folder SITE."""
    if site.resolve() in out.resolve().parents and (site / AGENT_FOLDER).resolve() not in out.resolve().parents:
        raise ConfigError(
            f"{out} lies among the pages of {site}.",
            hint=f"Give a folder outside the site, or {site / AGENT_FOLDER / 'index'}.",
            code="no_out",
        )
    build_index(site, out, base_url=base_url, title=title, md_urls=md_urls, clean_urls=clean_urls, verbose=verbose)


def build_index(
    site: Path,
    out: Path,
    *,
    base_url: str = DEFAULT_BASE_URL,
    title: str = "",
    md_urls: str = "html",
    clean_urls: bool = False,
    verbose: bool = False,
) -> dict[str, Any]:
    """Reads ``site``, writes the index to ``out``, tells on stderr what was done and what was left out.

    Raises:
        ConfigError: There is nothing to index, or ``out`` cannot be written.
    """
    files = find_files(site)
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file.", hint="Give a folder with --out.", code="no_out")
    if out.resolve() == site.resolve():
        raise ConfigError(
            f"{out} is the site itself.", hint="Give a folder of its own, such as SITE/agent/index.", code="no_out"
        )
    with click.progressbar(length=len(files), label="Reading", file=sys.stderr) as bar:
        read = read_site(site, files, markdown_urls=cast(MarkdownUrls, md_urls), progress=lambda: bar.update(1))
    _list_skipped(read.skipped, MAX_LISTED if not verbose else len(read.skipped))
    manifest = write_index(read.pages, out, title=title, base_url=base_url, clean_urls=clean_urls)
    size = sum(file["bytes"] for file in manifest["files"].values())
    lost = sum(one.lost for one in read.skipped)
    click.echo(
        f"Indexed {manifest['pages']} pages, {manifest['passages']} passages of {manifest['title']!r} into {out}"
        f" ({size / 1e6:.1f} MB); {lost} files skipped.",
        err=True,
    )
    return manifest


def _list_skipped(skipped: list[Skipped], most: int) -> None:
    for one in skipped[:most]:
        click.echo(f"{'skipped' if one.lost else 'warning'}: {one.file}: {one.reason}", err=True)
    if len(skipped) > most:
        click.echo(f"... and {len(skipped) - most} more (--verbose lists all)", err=True)


@main.command()
@click.argument("index", type=_FOLDER)
@click.argument("query", required=False)
@click.option("--top", default=5, show_default=True, type=click.IntRange(1, 100), help="Results at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option(
    "--batch", type=click.Path(path_type=Path), help="JSON Lines with `id` and `question`: one JSON line each."
)
def search(index: Path, query: str | None, top: int, as_json: bool, batch: Path | None) -> None:
    """Search the folder INDEX for QUERY."""
    if (query is None) == (batch is None):
        raise click.UsageError("Give a QUERY, or --batch FILE.")
    asyncio.run(_search(index, query, top, as_json, batch))


async def _search(folder: Path, query: str | None, top: int, as_json: bool, batch: Path | None) -> None:
    searcher = await load_index(folder)
    if batch is not None:
        for row in read_questions(batch):
            click.echo(
                json.dumps(
                    {"id": row["id"], **_to_json(await searcher.search(row["question"], top))}, ensure_ascii=False
                )
            )
        return
    result = await searcher.search(query or "", top)
    if as_json:
        click.echo(json.dumps(_to_json(result), ensure_ascii=False))
    else:
        _show(result, searcher)


def read_questions(path: Path) -> list[dict[str, Any]]:
    """Reads JSON Lines of questions.

    Raises:
        ConfigError: The file cannot be read, or a line is not an object with ``id`` and ``question``.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}.", hint="Give a file of JSON Lines in UTF-8.", code="bad_input"
        ) from error
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            rows.append({**row, "id": row["id"], "question": str(row["question"])})
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"{path}, line {number}, is not a JSON object with `id` and `question`.",
                hint="Correct the line.",
                code="bad_input",
            ) from error
    return rows


def _to_json(result: SearchResult) -> dict[str, Any]:
    """``url`` names the page's file (for scripts that check files), ``link`` is the address for a browser."""
    hits = [
        {
            "id": hit.passage.id,
            "url": hit.passage.page + (f"#{hit.passage.anchor}" if hit.passage.anchor else ""),
            "link": hit.passage.url,
            "title": hit.passage.title,
            "path": hit.passage.path,
            "text": hit.passage.text,
            "score": hit.score,
        }
        for hit in result.hits
    ]
    return {"query": result.query, "hits": hits, "missing": result.missing, "repaired": result.repaired}


def _show(result: SearchResult, searcher: IndexSearcher) -> None:
    if not result.hits:
        click.echo(f"Nothing in {searcher.manifest.title!r} matches.")
    for number, hit in enumerate(result.hits, 1):
        passage = hit.passage
        click.secho(f"{number}. {' > '.join(passage.path) or passage.title}", bold=True)
        click.echo(f"   {passage.url or passage.page}")
        click.echo(f"   {' '.join(passage.text.split())[:200]}")
    for typed, read in result.repaired.items():
        click.echo(f"read {typed!r} as {read!r}")
    if result.missing:
        click.echo(f"in none of these: {', '.join(result.missing)}")


@main.command()
@click.argument("index", type=_FOLDER)
@click.argument("question")
@click.option("--engine", type=click.Choice(["extractive", "openai"]), default="extractive", show_default=True)
@click.option("--base-url", default="", help="For openai: address of the API, up to and including /v1.")
@click.option("--model", default="", help="For openai: the model's name there; by default the first that it lists.")
@click.option("--window", default=8_192, show_default=True, type=click.IntRange(1_024), help="For openai: in tokens.")
@click.option("--db", default=":memory:", show_default=True, help="SQLite file that keeps the conversation.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("--trace", type=_FOLDER, help="Write every event, prompts and completions included, as JSON lines.")
def ask(
    index: Path,
    question: str,
    engine: str,
    base_url: str,
    model: str,
    window: int,
    db: str,
    as_json: bool,
    trace: Path | None,
) -> None:
    """Ask QUESTION of the folder INDEX: the whole harness, in the terminal.

    With the engine openai the variable PY_AGENT_API_KEY, if it is set, is sent as the key.
    """
    if not question.strip():
        raise ConfigError("The question is empty.", hint="Ask something.", code="bad_input")
    end = asyncio.run(_ask(index, question, _engine(engine, base_url, model, window), db, trace))
    if as_json:
        click.echo(json.dumps({"question": question, **end.model_dump(mode="json")}, ensure_ascii=False))
    else:
        _show_turn(end)
    if end.status == "failed":
        raise SystemExit(1)


def _engine(name: str, base_url: str, model: str, window: int) -> Engine:
    if name == "extractive":
        return ExtractiveEngine()
    if not base_url:
        raise ConfigError("The engine openai needs a server.", hint="Give its address: --base-url http://HOST/v1.")
    from py_agent.engines.http import HttpxPort
    from py_agent.engines.openai import OpenAiEngine, OpenAiSettings

    key = os.environ.get("PY_AGENT_API_KEY", "").strip()
    return OpenAiEngine(HttpxPort(), OpenAiSettings(base_url=base_url, model=model, window=window, api_key=key))


async def _ask(index: Path, question: str, engine: Engine, db: str, trace: Path | None) -> TurnEnd:
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
            agent = DocsAgent(engine, searcher, store, spool, config, tracing=tracing)
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


@main.command(name="replay")
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


def _show_turn(end: TurnEnd) -> None:
    if end.error is not None:
        click.echo(f"Error: {end.error.get('message', '')} {end.error.get('hint', '')}".rstrip(), err=True)
    click.echo(end.answer)
    for heading, sources in (("Sources", end.sources), ("Related", end.related)):
        if sources:
            click.secho(f"\n{heading}", bold=True)
        for source in sources:
            click.echo(f"- {' > '.join(source.path) or source.title}: {source.url or source.page}")


@main.command()
@click.argument("site", type=_FOLDER)
@click.option("--agent", type=_FOLDER, help="The built agent; by default dist/agent.")
@click.option("--out", type=_FOLDER, help="Write a copy of the site with the agent here, and leave SITE as it is.")
@click.option("--title", default="", help="Name of the site; by default what most pages say in their <title>.")
@click.option(
    "--md-urls",
    type=click.Choice(["html", "directory"]),
    default="html",
    show_default=True,
    help="Pages that Markdown files become.",
)
@click.option("--clean-urls", is_flag=True, help="The host serves page.html as page.")
@click.option("--verbose", is_flag=True, help="List every file that was skipped.")
def build(
    site: Path, agent: Path | None, out: Path | None, title: str, md_urls: str, clean_urls: bool, verbose: bool
) -> None:
    """Put the agent and its index beside the pages of the folder SITE, and print the script tag."""
    built = find_agent(agent)
    files = find_files(site)
    target = site
    if out is not None:
        copy_site(site, out)
        target = out
    index = place_agent(built, target)
    manifest = build_index(site, index, title=title, md_urls=md_urls, clean_urls=clean_urls, verbose=verbose)
    click.echo(script_tag(f"Ask {manifest['title']}"))
    if has_tag(site, files):
        click.echo("The front page has a script tag of py-agent already.", err=True)
    else:
        click.echo("Put this tag before </body> of every page, or into your theme's template.", err=True)


@main.command()
@click.argument("site", type=_FOLDER)
@click.option("--agent", type=_FOLDER, help="Use this built agent and a fresh index instead of what lies in SITE.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
def serve(site: Path, agent: Path | None, port: int) -> None:
    """Serve the folder SITE on localhost, with the agent. Pages without the script tag get it on their way out."""
    files = find_files(site)
    installed = site / AGENT_FOLDER
    with contextlib.ExitStack() as stack:
        mounts: dict[str, Path] = {}
        if agent is not None or not (installed / LAUNCHER).is_file():
            index = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="py-agent-")))
            mounts = {f"/{AGENT_FOLDER}": find_agent(agent), f"/{AGENT_FOLDER}/index": index}
            title = build_index(site, index)["title"]
        else:
            title = asyncio.run(load_index(installed / "index")).manifest.title
        inject = "" if has_tag(site, files) else script_tag(f"Ask {title}")
        with SiteServer(site, mounts=mounts, port=port, inject=inject) as server:
            click.echo(f"{server.url}/   (Ctrl-C ends it)")
            with contextlib.suppress(KeyboardInterrupt):
                threading.Event().wait()


@main.group()
def eval() -> None:
    """Measure answers against labelled questions."""


@eval.command()
@click.argument("questions", type=_FOLDER)
@click.argument("answers", type=_FOLDER)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def answers(questions: Path, answers: Path, as_json: bool) -> None:
    """Score ANSWERS (as `build.py demo --check --json` or `ask --json` write them) by the labels of QUESTIONS."""
    scores = score(read_labelled(questions), read_answers(answers))
    if as_json:
        click.echo(scores.model_dump_json())
        return
    asked = len(scores.answerable)
    click.echo(f"cites a gold page            {len(scores.cites_gold)} of {asked}")
    click.echo(f"first source is gold         {len(scores.first_gold)} of {asked}")
    click.echo(f"unanswerable and abstained   {len(scores.abstained_unanswerable)} of {len(scores.unanswerable)}")
    for name, ids in (
        ("cites other pages only", scores.wrong),
        ("answerable, but abstained", scores.abstained_answerable),
        ("unanswerable, but answered", sorted(set(scores.unanswerable) - set(scores.abstained_unanswerable))),
        ("not asked", scores.unasked),
    ):
        if ids:
            click.echo(f"{name}: {', '.join(ids)}")


if __name__ == "__main__":
    main()
