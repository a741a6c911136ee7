"""``build.py demo``: a site with the chatbot in it, on localhost; with ``--check``, asked in headless Chromium."""

from __future__ import annotations

import argparse
import hashlib
import html
import sys
from pathlib import Path

from py_agent.model.errors import AgentError
from py_agent.site.bundle.run import run as run_tool
from py_agent.site.door import commands, setup
from py_agent.site.serve import SiteServer

#: Where the demo is expected by habit. ``--check`` takes a free port: nobody types its address.
DEFAULT_PORT = 8000

#: What ``--check`` asks our own docs when no question is given; docs/ answers it.
DEFAULT_QUESTION = "Where are conversations stored?"


def run(root: Path, args: argparse.Namespace) -> int:
    """Build, index, serve; ask when told to.

    Returns:
        0, or with ``--check`` what the check says.

    Raises:
        AgentError: The site is missing, the port is in use, a step failed.
    """
    if args.ask and not args.check:
        raise AgentError("--ask is asked by --check only.", hint="Add --check.")
    if args.json and not args.check:
        raise AgentError("--json writes what --check found.", hint="Add --check.")
    if args.check:
        setup.ensure_chromium()
    site = args.site.resolve() if args.site else None
    if site is not None and not site.is_dir():
        raise AgentError(f"{args.site} is no folder.", hint="Give the folder that holds the site's HTML pages.")
    port = args.port if args.port is not None else (0 if args.check else DEFAULT_PORT)
    if port:  # before the minutes of building, not after
        with SiteServer(root, port=port):
            pass
    commands.build_dist(root)
    if site is None:
        site = build_docs(root)
    index = build_index(root, site)
    with SiteServer(
        site,
        port=port,
        mounts={"/agent": root / "dist" / "agent", "/agent/index": index},
        inject="" if has_tag(site) else script_tag("Ask the docs"),
    ) as server:
        if args.check:
            from py_agent.testing import check

            return check.main(server, site, args.ask or [DEFAULT_QUESTION], args.json)
        print(f"\n{server.url}/   (Ctrl-C ends it)", flush=True)
        wait()
    return 0


def wait() -> None:
    """Until the reader presses Ctrl-C."""
    import threading

    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print(file=sys.stderr)


def has_tag(site: Path) -> bool:
    """Whether the site's own start page carries the chatbot already."""
    page = site / "index.html"
    return page.is_file() and b"py-agent.js" in page.read_bytes()


def script_tag(title: str) -> str:
    """The tag that a site's owner would write."""
    return (
        '<script src="/agent/py-agent.js" data-index="/agent/index/manifest.json" '
        f'data-title="{html.escape(title, quote=True)}"></script>'
    )


def build_docs(root: Path) -> Path:
    """Our own docs site, built by MkDocs.

    Returns:
        Its folder.
    """
    out = root / "build" / "site"
    run_tool(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "--site-dir", out],
        "building the docs site",
        hint="MkDocs' message above names the page.",
        cwd=root,
    )
    return out


def build_index(root: Path, site: Path) -> Path:
    """The index of `site`, outside of it: somebody else's folder is only read.

    Returns:
        The folder of the index.
    """
    out = root / "build" / "index" / f"{site.name}-{hashlib.sha256(str(site).encode()).hexdigest()[:8]}"
    said = run_tool(
        [sys.executable, "-m", "py_agent.cli", "index", site, "--out", out],
        f"indexing {site}",
        hint="The message above names the page.",
        cwd=root,
    )
    print(said.strip(), flush=True)
    return out
