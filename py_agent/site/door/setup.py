"""What a fresh machine lacks: ``.venv``, ``node_modules``, Chromium. Standard library only."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from py_agent.model.errors import AgentError

VENV = ".venv"
LOCK = "requirements.lock"

#: Written last: an environment without it was interrupted while it was made.
STAMP = "py-agent-ready"
#: Written first: an environment with it is ours, and may be made anew.
OURS = "py-agent-made-this"

#: The oldest Node that our build tools and the tests' module runners support.
OLDEST_NODE = 20

#: Seconds for a package installation; a slow line needs minutes for about 150 MB.
INSTALL_TIMEOUT = 1800

#: Words in the output of pip, npm and apt that mean: no network.
NO_NETWORK = (
    "Temporary failure in name resolution", "Name or service not known", "Network is unreachable", "No route to host",
    "NewConnectionError", "ConnectTimeoutError", "Connection refused", "ProxyError", "ENOTFOUND", "EAI_AGAIN",
    "ECONNREFUSED", "ENETUNREACH", "ETIMEDOUT", "Could not resolve", "Failed to establish a new connection",
)  # fmt: skip


class DoorError(AgentError):
    """The machine lacks something. Codes: no_node, old_node, no_network, venv, install, no_chromium."""

    code = "door_error"


def clean(root: Path) -> None:
    """Remove what was built."""
    for name in ("dist", "build", "site"):
        shutil.rmtree(root / name, ignore_errors=True)
    print("removed dist/, build/ and site/")


def venv_python(root: Path) -> Path:
    """The interpreter of ``.venv``."""
    return root / VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def venv_stamp(root: Path) -> str:
    """What the finished environment's stamp must say: a hash of its lock file, and the Python that made it."""
    digest = hashlib.sha256((root / LOCK).read_bytes()).hexdigest()
    return f"{digest} {sys.version_info[0]}.{sys.version_info[1]} {root}\n"


def ensure_venv(root: Path) -> Path:
    """The interpreter of an environment that holds exactly what ``requirements.lock`` says; made anew when it does not.

    Raises:
        DoorError: It cannot be made, or ``.venv`` is somebody else's.
    """
    venv, python = root / VENV, venv_python(root)
    stamp = venv / STAMP
    wanted = venv_stamp(root)
    if stamp.is_file() and stamp.read_text() == wanted and python.exists():
        return python
    if venv.exists() and any(venv.iterdir()) and not (venv / OURS).is_file():
        raise DoorError(
            f"{venv} exists and was not made by build.py, or was left half-made by hand.",
            hint=f"Remove it (rm -r {venv}) or move it away, and run this again.",
            code="venv",
        )
    if venv.exists():
        why = "its lock file or Python changed" if stamp.is_file() else "it was left half-made"
        print(f"build.py: making {VENV} anew: {why}.", file=sys.stderr)
        shutil.rmtree(venv)
    venv.mkdir()
    (venv / OURS).write_text("build.py made this folder and may remove it\n")
    print(f"build.py: setting up {VENV} from {LOCK} (about a minute) ...", file=sys.stderr)
    install(
        [sys.executable, "-m", "venv", str(venv)],
        f"Making {VENV}",
        hint="Python's own venv module must work (Debian: apt-get install python3-venv).",
    )
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    install(
        [*pip, "--require-hashes", "--no-deps", "-r", str(root / LOCK)],
        f"Installing {LOCK}",
        hint="Its last lines above say why; if they tell of a hash, the index serves another file than the lock names.",
    )
    # Our own package, in place: the `py-agent` command and the pytest plugin that site owners get.
    install(
        [*pip, "--no-deps", "--no-index", "--no-build-isolation", "--editable", str(root)],
        "Installing py-agent itself",
        hint="Its last lines above say what pyproject.toml lacks.",
    )
    stamp.write_text(wanted)
    return python


def ensure_node() -> None:
    """Node and npm are there and new enough.

    Raises:
        DoorError: They are not.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise DoorError(
                f"{program} is missing; the page's JavaScript cannot be built without it.",
                hint=f"Install Node.js {OLDEST_NODE} or newer with npm (Debian: apt-get install nodejs npm).",
                code="no_node",
            )
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()  # noqa: S607
    number = said.removeprefix("v").split(".")[0]
    if not number.isdigit() or int(number) < OLDEST_NODE:
        raise DoorError(
            f"Node.js {OLDEST_NODE} or newer is needed, `node --version` says {said or 'nothing'}.",
            hint="Install a newer one, or put it first on the PATH.",
            code="old_node",
        )


def modules_match(root: Path) -> bool:
    """Whether ``node_modules`` holds what ``package-lock.json`` names. npm writes its record of it at the very end."""
    try:
        wanted = json.loads((root / "package-lock.json").read_text())["packages"]
        found = json.loads((root / "node_modules" / ".package-lock.json").read_text())["packages"]
    except (OSError, ValueError, KeyError):
        return False
    return all(
        found.get(path, {}).get("version") == entry["version"]
        for path, entry in wanted.items()
        # npm installs only this platform's share of the optional packages
        if path and not entry.get("optional")
    )


def ensure_modules(root: Path) -> None:
    """``node_modules`` as ``package-lock.json`` says.

    Raises:
        DoorError: npm failed.
    """
    if modules_match(root):
        return
    print("build.py: npm ci ...", file=sys.stderr)
    install(["npm", "ci", "--no-progress"], "npm ci", hint="Its last lines above say why.", cwd=root)


def ensure_chromium() -> None:
    """A Chromium that Playwright can drive; installed when that is possible without asking.

    Raises:
        AgentError: ``no_chromium``, with what to install.
    """
    from py_agent.testing.chromium import find_chromium

    try:
        find_chromium()
        return
    except AgentError:
        root_user = hasattr(os, "geteuid") and os.geteuid() == 0
        if not root_user or shutil.which("apt-get") is None:
            raise
    print("build.py: installing chromium with apt-get ...", file=sys.stderr)
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    hint = "Install Chromium by hand and run this again."
    install(["apt-get", "update", "-qq"], "apt-get update", hint=hint, env=quiet)
    install(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],
        "Installing chromium",
        hint=hint,
        env=quiet,
    )
    find_chromium()


def install(
    command: Sequence[str], what: str, *, hint: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> None:
    """Run an installer silently; show the end of its output if it fails.

    Raises:
        DoorError: ``no_network`` where its output says so, else ``install``.
    """
    try:
        done = subprocess.run(  # noqa: S603 - our own commands
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=INSTALL_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DoorError(
            f"{what} did not end within {INSTALL_TIMEOUT // 60} minutes.",
            hint="Check the network and run again.",
            code="no_network",
        ) from error
    if done.returncode == 0:
        return
    if any(sign in done.stdout for sign in NO_NETWORK):
        raise DoorError(
            f"{what} needs the network, which cannot be reached.",
            hint="Connect, or point pip and npm to an index that can be reached, and run this again.",
            code="no_network",
        )
    print("\n".join(done.stdout.strip().splitlines()[-15:]), file=sys.stderr)
    raise DoorError(f"{what} failed (exit code {done.returncode}).", hint=hint, code="install")
