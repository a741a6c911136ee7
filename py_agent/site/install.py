"""Putting the agent into a site: ``agent/`` and ``agent/index/`` beside its pages, and the tag that starts it."""

from __future__ import annotations

import html
import os
import shutil
from pathlib import Path

from py_agent.model.errors import ConfigError

#: The agent's folder inside a site.
AGENT_FOLDER = "agent"
#: The file by which a folder is known to be the agent's.
LAUNCHER = "py-agent.js"
#: Folders of a site that are not copied to ``--out``.
_NOT_COPIED = shutil.ignore_patterns(".git", "node_modules", "__pycache__")


def find_agent(given: Path | None) -> Path:
    """The built agent: the folder given, else ``PY_AGENT_DIST``, ``dist/agent`` here, or that of this source tree.

    Raises:
        ConfigError: ``no_agent``: none of them holds the launcher.
    """
    source = Path(__file__).resolve().parents[2]
    named = os.environ.get("PY_AGENT_DIST")
    places = [given] if given else [*([Path(named)] if named else []), Path("dist/agent"), source / "dist" / "agent"]
    for place in places:
        if (place / LAUNCHER).is_file():
            return place
    raise ConfigError(
        f"There is no built agent in {' or '.join(str(place) for place in places)}: {LAUNCHER} is missing.",
        hint="Run `python build.py dist`, or name the folder with --agent.",
        code="no_agent",
    )


def place_agent(agent: Path, site: Path) -> Path:
    """Copies the built agent into ``site`` and returns the folder for the index. An index that is there stays; files of
    an older agent go.

    Raises:
        ConfigError: ``no_out``: the folder cannot be written, or something else of the site's has its name.
    """
    target = site / AGENT_FOLDER
    if target.exists() and not (target / LAUNCHER).is_file() and any(target.iterdir() if target.is_dir() else [target]):
        raise ConfigError(
            f"{target} is already there and is not an agent's folder.",
            hint="Rename that part of your site; the agent needs the name.",
            code="no_out",
        )
    try:
        if target.resolve() != agent.resolve():
            if (target / "assets").is_dir():
                shutil.rmtree(target / "assets")
            shutil.copytree(agent, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("index"))
    except OSError as error:
        raise _not_written(target, error) from error
    return target / "index"


def copy_site(site: Path, out: Path) -> None:
    """Copies a site's files to ``out``, over what is there.

    Raises:
        ConfigError: ``no_out``: ``out`` lies in the site, holds the site, or cannot be written.
    """
    here, there = site.resolve(), out.resolve()
    if there == here or here in there.parents or there in here.parents:
        raise ConfigError(
            f"{out} and {site} lie in each other.", hint="Give a folder outside the site with --out.", code="no_out"
        )
    try:
        shutil.copytree(site, out, dirs_exist_ok=True, ignore=_NOT_COPIED)
    except (OSError, shutil.Error) as error:
        raise _not_written(out, error) from error


def script_tag(title: str) -> str:
    """The tag to put into every page, for a site at the root of its host."""
    return (
        f'<script src="/{AGENT_FOLDER}/{LAUNCHER}" data-index="/{AGENT_FOLDER}/index/manifest.json"'
        f' data-title="{html.escape(title, quote=True)}"></script>'
    )


def has_tag(site: Path, files: list[str]) -> bool:
    """Whether the site's front page (or its first one) already names the launcher."""
    front = "index.html" if "index.html" in files else files[0]
    return LAUNCHER.encode() in (site / front).read_bytes()


def _not_written(folder: Path, error: OSError | shutil.Error) -> ConfigError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)[:200]
    return ConfigError(f"{folder} cannot be written: {reason}.", hint="Give another folder with --out.", code="no_out")
