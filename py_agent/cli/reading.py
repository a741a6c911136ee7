"""The options that every command has which reads a site, and the reading itself with its progress bar and summary."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from py_agent.model.errors import ConfigError
from py_agent.site.address import MarkdownUrls
from py_agent.site.cache import ReadingCache, default_folder
from py_agent.site.read import Site, find_files, read_site
from py_agent.site.rules import read_rules
from py_agent.site.summary import summary

#: Files listed by name in the summary; all of them are listed with --verbose.
MAX_LISTED = 20
FOLDER = click.Path(path_type=Path)
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a site.

    Attributes:
        md_urls: Pages that Markdown and other sources become.
        rules: A TOML file with the site's own rules.
        facets: Values of facets to choose pages by.
        cache: Folder of the readings of earlier builds; None keeps and takes nothing.
        verbose: Name every file that was left out.
    """

    md_urls: MarkdownUrls = "html"
    rules: Path | None = None
    facets: dict[str, str] = field(default_factory=dict)
    cache: Path | None = field(default_factory=default_folder)
    verbose: bool = False


def reading_options(command: Command) -> Command:
    """Adds the options; the command takes what they say from its keyword arguments with ``take_options``."""
    for option in reversed(
        [
            click.option(
                "--md-urls",
                type=click.Choice(["html", "directory"]),
                default="html",
                show_default=True,
                help="Pages that Markdown files become.",
            ),
            click.option("--rules", type=FOLDER, help="TOML file with the site's own rules for reading it."),
            click.option(
                "--facet", "facets", multiple=True, metavar="NAME=VALUE", help="Index only this version or language."
            ),
            click.option("--cache", type=FOLDER, help="Folder for what was read; by default the user's cache folder."),
            click.option("--no-cache", is_flag=True, help="Read every file, and keep nothing."),
            click.option("--verbose", is_flag=True, help="List every file that was skipped."),
        ]
    ):
        command = option(command)
    return command


def take_options(
    md_urls: MarkdownUrls, rules: Path | None, facets: Sequence[str], cache: Path | None, no_cache: bool, verbose: bool
) -> ReadingOptions:
    """The options as one value.

    Raises:
        ConfigError: ``bad_facet``: a facet is not NAME=VALUE; ``bad_cache``: --cache and --no-cache at once.
    """
    if cache is not None and no_cache:
        raise ConfigError("--cache and --no-cache exclude each other.", hint="Leave one of them out.", code="bad_cache")
    wanted: dict[str, str] = {}
    for one in facets:
        name, sign, value = one.partition("=")
        if not (name and sign and value):
            raise ConfigError(
                f"--facet {one} is not NAME=VALUE.", hint="Write for example --facet version=latest.", code="bad_facet"
            )
        wanted[name] = value
    return ReadingOptions(md_urls, rules, wanted, None if no_cache else cache or default_folder(), verbose)


def read(site: Path, options: ReadingOptions) -> Site:
    """Reads ``site`` with a progress bar and tells on stderr what was left out.

    Raises:
        ConfigError: There is no site, a rule is wrong, or a facet is not there.
    """
    files = find_files(site)
    rules = read_rules(options.rules) if options.rules is not None else None
    cache = ReadingCache(options.cache)
    try:
        with click.progressbar(length=len(files), label="Reading", file=sys.stderr) as bar:
            found = read_site(
                site,
                files,
                markdown_urls=options.md_urls,
                progress=lambda: bar.update(1),
                cache=cache,
                rules=rules,
                facets=options.facets,
                processes=os.cpu_count() or 1,
            )
    finally:
        cache.close()
    for line in summary(found, len(found.skipped) if options.verbose else MAX_LISTED):
        click.echo(line, err=True)
    return found
