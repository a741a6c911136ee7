"""``py-agent index``: reads a site and writes its index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from py_agent.cli.reading import FOLDER, ReadingOptions, read, reading_options, take_options
from py_agent.model.errors import ConfigError
from py_agent.search.manifest import Manifest
from py_agent.site.index import DEFAULT_BASE_URL, write_index
from py_agent.site.install import AGENT_FOLDER


@click.command()
@click.argument("site", type=FOLDER)
@click.option("--out", required=True, type=FOLDER, help="Folder for the index; an index in it is replaced.")
@click.option(
    "--base-url",
    default=DEFAULT_BASE_URL,
    show_default=True,
    help="The site's root, relative to the manifest, or absolute.",
)
@click.option("--title", default="", help="Name of the site; by default what most pages say in their <title>.")
@click.option("--clean-urls", is_flag=True, help="The host serves page.html as page.")
@reading_options
def index(site: Path, out: Path, base_url: str, title: str, clean_urls: bool, **reading: Any) -> None:
    """Index the pages of the folder SITE: HTML, Markdown, MDX and reStructuredText."""
    if site.resolve() in out.resolve().parents and (site / AGENT_FOLDER).resolve() not in out.resolve().parents:
        raise ConfigError(
            f"{out} lies among the pages of {site}.",
            hint=f"Give a folder outside the site, or {site / AGENT_FOLDER / 'index'}.",
            code="no_out",
        )
    options = take_options(**reading)
    build_index(site, out, base_url=base_url, title=title, clean_urls=clean_urls, options=options)


def build_index(
    site: Path,
    out: Path,
    *,
    base_url: str = DEFAULT_BASE_URL,
    title: str = "",
    clean_urls: bool = False,
    options: ReadingOptions | None = None,
) -> Manifest:
    """Reads ``site``, writes the index to ``out``, tells on stderr what was done and what was left out.

    Raises:
        ConfigError: There is nothing to index, or ``out`` cannot be written.
    """
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file.", hint="Give a folder with --out.", code="no_out")
    if out.resolve() == site.resolve():
        raise ConfigError(
            f"{out} is the site itself.", hint="Give a folder of its own, such as SITE/agent/index.", code="no_out"
        )
    found = read(site, options or ReadingOptions())
    manifest = write_index(found.pages, out, title=title, base_url=base_url, clean_urls=clean_urls)
    size = sum(file.stat().st_size for file in out.iterdir() if file.is_file())
    lost = sum(one.lost for one in found.skipped)
    click.echo(
        f"Indexed {manifest.pages} pages, {manifest.passages} passages of {manifest.title!r} into {out}"
        f" ({size / 1e6:.1f} MB); {lost} files skipped.",
        err=True,
    )
    return manifest
