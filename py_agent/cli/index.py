"""``py-agent index``: from the pages of a site to an index."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from py_agent.cli.reading import FOLDER, ReadingOptions, read, reading_options, take_options
from py_agent.model.errors import ConfigError
from py_agent.search.manifest import Manifest
from py_agent.search.tokens import Tokenizer
from py_agent.site.cache import VECTORS, ReadingCache
from py_agent.site.index import DEFAULT_BASE_URL, write_index
from py_agent.site.index.postings import Rows, Vocabulary
from py_agent.site.install import AGENT_FOLDER
from py_agent.site.semantic import CachingEncoder, Encoder, Semantic, build_semantic, is_installed, require_encoder
from py_agent.site.synonyms import read_synonyms

Command = TypeVar("Command", bound=Callable[..., Any])

_INDEXING = (
    click.option("--title", default="", help="Name of the site; by default what most pages say in their <title>."),
    click.option("--clean-urls", is_flag=True, help="The host serves page.html as page."),
    click.option(
        "--synonyms", type=FOLDER, help="File of words that are searched along with others: `a, b` or `a => b`."
    ),
    click.option(
        "--semantic",
        type=click.Choice(["auto", "off", "on"]),
        default="auto",
        show_default=True,
        help="Vectors, to search by meaning too; auto: where the packages for it are installed.",
    ),
)


@dataclass(frozen=True)
class IndexOptions:
    """What to make of a site.

    Attributes:
        title: Name of the site; what most pages say when it is empty.
        clean_urls: The host serves ``page.html`` as ``page``.
        synonyms: Words that are searched along with a word.
        semantic: Whether the index gets vectors.
        reading: How the site's files are read.
    """

    title: str = ""
    clean_urls: bool = False
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    semantic: bool = field(default_factory=is_installed)
    reading: ReadingOptions = field(default_factory=ReadingOptions)


def indexing(command: Command) -> Command:
    """Adds the options of commands that build an index; ``take_indexing`` makes one value of them."""
    command = reading_options(command)
    for option in reversed(_INDEXING):
        command = option(command)
    return command


def take_indexing(title: str, clean_urls: bool, synonyms: Path | None, semantic: str, **reading: Any) -> IndexOptions:
    """The options as one value; files that they name are read, so that a wrong one is told before anything is done.

    Raises:
        ConfigError: An option or a file is wrong; ``no_encoder``: vectors are wanted, but not possible.
    """
    if semantic == "on":
        require_encoder()
    words = read_synonyms(synonyms) if synonyms is not None else {}
    return IndexOptions(title, clean_urls, words, semantic != "off" and is_installed(), take_options(**reading))


@click.command()
@click.argument("site", type=FOLDER)
@click.option("--out", type=FOLDER, required=True, help="Folder for the index, usually SITE/agent/index.")
@click.option(
    "--base-url",
    default=DEFAULT_BASE_URL,
    show_default=True,
    help="The site's root, relative to the manifest, or absolute.",
)
@indexing
def index(site: Path, out: Path, base_url: str, **options: Any) -> None:
    """Index the pages of the folder SITE: HTML, Markdown, MDX and reStructuredText."""
    if site.resolve() in out.resolve().parents and (site / AGENT_FOLDER).resolve() not in out.resolve().parents:
        raise ConfigError(
            f"{out} lies among the pages of {site}.",
            hint=f"Give a folder outside the site, or {site / AGENT_FOLDER / 'index'}.",
            code="no_out",
        )
    build_index(site, out, take_indexing(**options), base_url)


def build_index(site: Path, out: Path, options: IndexOptions, base_url: str = DEFAULT_BASE_URL) -> Manifest:
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
    found = read(site, options.reading)
    cache = ReadingCache(options.reading.cache, VECTORS) if options.semantic else None
    manifest = write_index(
        found.pages,
        out,
        title=options.title,
        base_url=base_url,
        clean_urls=options.clean_urls,
        synonyms=options.synonyms,
        meaning=partial(_meaning, cache) if cache is not None else None,
    )
    if cache is not None:
        cache.close()
        if cache.trouble:
            click.echo(cache.trouble, err=True)
    size = sum(file.stat().st_size for file in out.iterdir() if file.is_file())
    lost = sum(one.lost for one in found.skipped)
    click.echo(
        f"Indexed {manifest.pages} pages, {manifest.passages} passages of {manifest.title!r} into {out}"
        f" ({size / 1e6:.1f} MB); {lost} files skipped."
        + ("" if options.semantic else " It finds by words alone, not by meaning."),
        err=True,
    )
    return manifest


def _meaning(cache: ReadingCache, rows: Rows, words: Vocabulary, tokenizer: Tokenizer) -> Semantic:
    encoder = CachingEncoder(Encoder(), cache)
    with click.progressbar(length=len(rows), label="Encoding", file=sys.stderr) as bar:

        def progress(total: int, more: int) -> None:
            bar.length = total
            bar.update(more)

        return build_semantic(rows, words.frequency, tokenizer, encoder, progress)
