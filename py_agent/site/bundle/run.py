"""Run the tools of the build, with errors that say which step failed and what the tool said."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from py_agent.model.errors import AgentError

#: Lines of a failing tool's output that are shown: enough for a compiler's first error, short enough to be read.
SHOWN_LINES = 25
#: Characters of each: minified code has lines of a megabyte.
SHOWN_COLUMNS = 300


class BundleError(AgentError):
    """The bundle could not be built, or weighs too much."""

    code = "bundle_error"


def run(
    command: Sequence[str | Path],
    what: str,
    *,
    hint: str = "",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 600.0,
) -> str:
    """Run `command` and give back what it printed (both streams).

    Args:
        command: Program and arguments.
        what: The step, for the error: "esbuild web/loader.js".
        hint: What to do if it fails.
        cwd: Working folder.
        env: Variables added to ours.
        timeout: Seconds until the step counts as hung.

    Raises:
        BundleError: The program is missing, failed, or did not end in time.
    """
    try:
        done = subprocess.run(  # noqa: S603 - the commands are ours, no shell is involved
            [str(part) for part in command],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError as error:
        raise BundleError(
            f"{what}: the program {command[0]} is missing.", hint=hint or "Run `python build.py dist`."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise BundleError(f"{what} did not end within {timeout:.0f} s.", hint=hint or "Try again.") from error
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        tail = "\n".join(line[:SHOWN_COLUMNS] for line in output.strip().splitlines()[-SHOWN_LINES:])
        raise BundleError(f"{what} failed (exit code {done.returncode}):\n{tail}\n", hint=hint)
    return output
