"""``py-agent search``: looks into an index from the terminal."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import click

from py_agent.cli.index import FOLDER
from py_agent.model.errors import ConfigError
from py_agent.search import IndexSearcher, SearchResult
from py_agent.site.load import load_index


@click.command()
@click.argument("index", type=FOLDER)
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
