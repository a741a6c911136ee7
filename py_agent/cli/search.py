"""``py-agent search``: looks into an index from the terminal."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import click

from py_agent.cli.reading import FOLDER
from py_agent.model.errors import ConfigError
from py_agent.search import IndexSearcher, SearchResult
from py_agent.search.explain import Explanation
from py_agent.site.load import load_index


@click.command()
@click.argument("index", type=FOLDER)
@click.argument("query", required=False)
@click.option("--top", default=5, show_default=True, type=click.IntRange(1, 100), help="Results at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option(
    "--batch", type=click.Path(path_type=Path), help="JSON Lines with `id` and `question`: one JSON line each."
)
@click.option("--explain", is_flag=True, help="Show why each result ranks where it does.")
def search(index: Path, query: str | None, top: int, as_json: bool, batch: Path | None, explain: bool) -> None:
    """Search the folder INDEX for QUERY.

    With --batch INDEX may also be a folder of indexes: each question is asked of the one that its `corpus` names.
    """
    if (query is None) == (batch is None):
        raise click.UsageError("Give a QUERY, or --batch FILE.")
    if batch is not None:
        asyncio.run(_search_all(index, read_questions(batch), top))
    else:
        asyncio.run(_search(index, query or "", top, as_json=as_json, explained=explain))


async def _search(folder: Path, query: str, top: int, *, as_json: bool, explained: bool) -> None:
    searcher = await load_index(folder)
    result = await searcher.search(query, top)
    reasons = [await searcher.explain(query, hit.passage.id) for hit in result.hits] if explained else []
    if as_json:
        told = _to_json(result)
        for hit, reason in zip(told["hits"], reasons, strict=False):
            hit["explanation"] = reason.model_dump(mode="json")
        click.echo(json.dumps(told, ensure_ascii=False))
    else:
        _show(result, searcher, reasons)


async def _search_all(folder: Path, questions: list[dict[str, Any]], top: int) -> None:
    searchers: dict[Path, IndexSearcher] = {}
    many = not (folder / "manifest.json").is_file()
    for row in questions:
        if many and not isinstance(row.get("corpus"), str):
            raise ConfigError(
                f"{folder} holds no index, and the question {row['id']!r} names no `corpus` in it.",
                hint="Give the folder of an index, or a folder of indexes and questions that name theirs.",
                code="bad_input",
            )
        where = folder / row["corpus"] if many else folder
        if where not in searchers:
            searchers[where] = await load_index(where)
        told = _to_json(await searchers[where].search(row["question"], top))
        click.echo(json.dumps({"id": row["id"], **told}, ensure_ascii=False))


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
            "link": hit.passage.link,
            "title": hit.passage.title,
            "path": hit.passage.path,
            "text": hit.passage.text,
            "facets": hit.passage.facets,
            "previous": hit.passage.previous,
            "next": hit.passage.next,
            "score": round(hit.score, 4),
        }
        for hit in result.hits
    ]
    return {"query": result.query, "hits": hits, "missing": result.missing, "repaired": result.repaired}


def _show(result: SearchResult, searcher: IndexSearcher, reasons: list[Explanation]) -> None:
    if not result.hits:
        click.echo(f"Nothing in {searcher.manifest.title!r} matches.")
    for number, hit in enumerate(result.hits, 1):
        passage = hit.passage
        click.secho(f"{number}. {' > '.join(passage.path) or passage.title}", bold=True)
        click.echo(f"   {passage.link or passage.page}")
        if passage.facets:
            click.echo(f"   {', '.join(f'{name} {value}' for name, value in sorted(passage.facets.items()))}")
        click.echo(f"   {' '.join(passage.text.split())[:200]}")
        if reasons:
            _show_reason(reasons[number - 1])
    for typed, read in result.repaired.items():
        click.echo(f"read {typed!r} as {read!r}")
    if result.missing:
        click.echo(f"in none of these: {', '.join(result.missing)}")


def _show_reason(reason: Explanation) -> None:
    for share in reason.terms:
        where = "in the heading" if share.heading else "in the text" if share.impact else "not in it"
        click.echo(
            f"   {share.points:>10,}  {share.word} -> {share.term}: rarity {share.idf:.2f} x weight {share.weight:.2f}"
            f" x impact {share.impact} ({where})"
        )
    click.echo(f"   {reason.score:>10,.0f}  in all: {reason.points:,} x {reason.boost:.2f} for its heading")
    both = reason.words + reason.meaning
    click.echo(f"   {both:>10.3f}  is {reason.words:.3f} by words + {reason.meaning:.3f} by meaning")
