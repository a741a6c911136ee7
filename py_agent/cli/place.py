"""``py-agent build`` and ``py-agent serve``: put the agent beside a site's pages, and try it there."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from pathlib import Path
from typing import Any

import click

from py_agent.cli.index import IndexOptions, build_index, indexing, take_indexing
from py_agent.cli.reading import FOLDER
from py_agent.site.install import AGENT_FOLDER, LAUNCHER, copy_site, find_agent, has_tag, place_agent, script_tag
from py_agent.site.load import load_index
from py_agent.site.read import find_files
from py_agent.site.serve import SiteServer


@click.command()
@click.argument("site", type=FOLDER)
@click.option("--agent", type=FOLDER, help="The built agent; by default dist/agent.")
@click.option("--out", type=FOLDER, help="Write a copy of the site with the agent here, and leave SITE as it is.")
@indexing
def build(site: Path, agent: Path | None, out: Path | None, **options: Any) -> None:
    """Put the agent and its index beside the pages of the folder SITE, and print the script tag."""
    taken = take_indexing(**options)
    built = find_agent(agent)
    files = find_files(site)
    target = site
    if out is not None:
        copy_site(site, out)
        target = out
    index = place_agent(built, target)
    manifest = build_index(site, index, taken)
    click.echo(script_tag(f"Ask {manifest.title}"))
    if has_tag(site, files):
        click.echo("The front page has a script tag of py-agent already.", err=True)
    else:
        click.echo("Put this tag before </body> of every page, or into your theme's template.", err=True)


@click.command()
@click.argument("site", type=FOLDER)
@click.option("--agent", type=FOLDER, help="Use this built agent and a fresh index instead of what lies in SITE.")
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
            title = build_index(site, index, IndexOptions()).title
        else:
            title = asyncio.run(load_index(installed / "index")).manifest.title
        inject = "" if has_tag(site, files) else script_tag(f"Ask {title}")
        with SiteServer(site, mounts=mounts, port=port, inject=inject) as server:
            click.echo(f"{server.url}/   (Ctrl-C ends it)")
            with contextlib.suppress(KeyboardInterrupt):
                threading.Event().wait()
