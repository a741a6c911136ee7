"""``python -m py_agent.site.bundle``: the build step alone, in an environment that is set up already.

``--partial`` leaves out entry points that do not exist yet.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from py_agent.site.bundle.dist import build
from py_agent.site.bundle.run import BundleError


def main() -> int:
    """Build ``dist/`` of the project that holds this file; say what it weighs.

    Returns:
        0, or 1 after one line that says what went wrong.
    """
    root = Path(__file__).resolve().parents[3]
    start = time.monotonic()
    try:
        report = build(root, partial="--partial" in sys.argv[1:])
    except BundleError as error:
        print(f"dist: {error}", file=sys.stderr)
        return 1
    totals = report["totals"]
    assert isinstance(totals, dict)
    print(
        f"dist/agent built in {time.monotonic() - start:.1f} s: launcher {totals['launcher_br']:,} B, first visit "
        f"{totals['first_open_br']:,} B brotli, {totals['first_open_plain_host']:,} B from a host that only gzips"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
