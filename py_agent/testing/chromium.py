"""Finding and starting the system's Chromium: Playwright drives it, and never downloads a browser of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import BrowserContext, sync_playwright

from py_agent.model.errors import AgentError

#: Names under which distributions install Chromium or Chrome.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

#: Set this to use a browser that lies elsewhere.
VARIABLE = "PY_AGENT_CHROMIUM"

#: Quiet start-up: without these Chromium calls its maker's servers, which a closed network refuses many times a second.
QUIET = (
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

#: WebGPU on the software adapter: a machine without a GPU offers none otherwise.
SOFTWARE_WEBGPU = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")


def find_chromium() -> Path:
    """The browser to drive: ``PY_AGENT_CHROMIUM``, else the first of ``NAMES`` on the PATH.

    Raises:
        AgentError: ``no_chromium``.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if Path(named).is_file():
            return Path(named)
        raise AgentError(f"{VARIABLE} names {named}, and no such file exists.", hint="Unset it.", code="no_chromium")
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    raise AgentError(
        "Chromium is not installed, and the page cannot be opened without it.",
        hint=f"Install it (Debian: apt-get install chromium), or name it in {VARIABLE}.",
        code="no_chromium",
    )


def chromium_args(*, webgpu: bool = False, extra: Sequence[str] = ()) -> list[str]:
    """Command-line switches for tests. Root needs ``--no-sandbox``: Chromium refuses to start without it there."""
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [*sandbox, *QUIET, *(SOFTWARE_WEBGPU if webgpu else ()), *extra]


@contextlib.contextmanager
def open_chromium(
    *, profile: Path | None = None, webgpu: bool = False, extra: Sequence[str] = (), headless: bool = True
) -> Iterator[BrowserContext]:
    """A browser with a profile on disk, as a reader has: in a private window OPFS lives in memory and is slow.

    Args:
        profile: The profile's folder; None makes one and deletes it.
        webgpu: Offer the software WebGPU adapter.
        extra: Further switches.

    Raises:
        AgentError: ``no_chromium``.
    """
    executable = find_chromium()
    with contextlib.ExitStack() as stack:
        if profile is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="py-agent-", ignore_cleanup_errors=True))
            profile = Path(folder)
        playwright = stack.enter_context(sync_playwright())
        context = playwright.chromium.launch_persistent_context(
            str(profile),
            executable_path=str(executable),
            headless=headless,
            args=chromium_args(webgpu=webgpu, extra=extra),
        )
        stack.callback(context.close)
        yield context
