"""``py-agent index``: reads a site and writes its index."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from py_agent.model.errors import ConfigError
from py_agent.search.manifest import Manifest
from py_agent.site.address import MarkdownUrls
from py_agent.site.index import DEFAULT_BASE_URL, write_index
from py_agent.site.install import AGENT_FOLDER
from py_agent.site.read import Skipped, find_files, read_site
from py_agent.site.synonyms import read_synonyms

#: Files listed by name in the summary; all of them are listed with --verbose.
MAX_LISTED = 20
FOLDER = click.Path(path_type=Path)

Command = TypeVar("Command", bound=Callable[..., Any])


_INDEXING = (
    click.option("--title", default="", help="Name of the site; by default what most pages say in their <title>."),
    click.option(
        "--md-urls",
        type=click.Choice(["html", "directory"]),
        default="html",
        show_default=True,
        help="Pages that Markdown files become.",
    ),
    click.option("--clean-urls", is_flag=True, help="The host serves page.html as page."),
    click.option(
        "--synonyms", type=FOLDER, help="File of words that are searched along with others: `a, b` or `a => b`."
    ),
    click.option("--verbose", is_flag=True, help="List every file that was skipped."),
)


def indexing(command: Command) -> Command:
    """The options of commands that build an index; they go on to ``build_index`` as they are."""
    for option in reversed(_INDEXING):
        command = option(command)
    return command


@click.command()
@click.argument("site", type=FOLDER)
@click.option("--out", required=True, type=FOLDER, help="Folder for the index; an index in it is replaced.")
@click.option(
    "--base-url",
    default=DEFAULT_BASE_URL,
    show_default=True,
    help="The site's root, relative to the manifest, or absolute.",
)
@indexing
def index(site: Path, out: Path, base_url: str, **options: Any) -> None:
    """Index the HTML and Markdown files of the folder SITE."""
    if site.resolve() in out.resolve().parents and (site / AGENT_FOLDER).resolve() not in out.resolve().parents:
        raise ConfigError(
            f"{out} lies among the pages of {site}.",
            hint=f"Give a folder outside the site, or {site / AGENT_FOLDER / 'index'}.",
            code="no_out",
        )
    build_index(site, out, base_url=base_url, **options)


def build_index(
    site: Path,
    out: Path,
    *,
    base_url: str = DEFAULT_BASE_URL,
    title: str = "",
    md_urls: str = "html",
    clean_urls: bool = False,
    synonyms: Path | None = None,
    verbose: bool = False,
) -> Manifest:
    """Reads ``site``, writes the index to ``out``, tells on stderr what was done and what was left out.

    Raises:
        ConfigError: There is nothing to index, or ``out`` cannot be written.
    """
    words = read_synonyms(synonyms) if synonyms is not None else {}
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
    manifest = write_index(read.pages, out, title=title, base_url=base_url, clean_urls=clean_urls, synonyms=words)
    size = sum(file.stat().st_size for file in out.iterdir() if file.is_file())
    lost = sum(one.lost for one in read.skipped)
    click.echo(
        f"Indexed {manifest.pages} pages, {manifest.passages} passages of {manifest.title!r} into {out}"
        f" ({size / 1e6:.1f} MB); {lost} files skipped.",
        err=True,
    )
    return manifest


def _list_skipped(skipped: list[Skipped], most: int) -> None:
    for one in skipped[:most]:
        click.echo(f"{'skipped' if one.lost else 'warning'}: {one.file}: {one.reason}", err=True)
    if len(skipped) > most:
        click.echo(f"... and {len(skipped) - most} more (--verbose lists all)", err=True)
