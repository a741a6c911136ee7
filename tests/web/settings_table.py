"""The settings of `web/config.js` as the Markdown table that stands in `docs/settings.md`.

After a change of the settings run ``python tests/web/settings_table.py`` and put what it prints into that page.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

_PRINT = """
import { SETTINGS, attributeOf } from "./web/config.js";
const rows = Object.entries(SETTINGS).map(([key, setting]) => ({ key, attribute: attributeOf(key), ...setting }));
console.log(JSON.stringify(rows));
"""


def settings() -> list[dict[str, Any]]:
    """Every setting: its key, its attribute, and what `web/config.js` says of it."""
    command = ["node", "--input-type=module", "--eval", _PRINT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def settings_table() -> str:
    """The table."""
    lines = ["| attribute | key | default | what it does |", "|---|---|---|---|"]
    for row in settings():
        text = row["description"]
        if row["type"] == "choice":
            text += f" Values: {', '.join(row['choices'])}."
        elif row["type"] == "integer":
            text += f" From {row['min']} to {row['max']}."
        default = "none" if row["default"] is None else row["default"]
        default = f"{default}, required" if row.get("required") else default
        lines.append(f"| `{row['attribute']}` | `{row['key']}` | {default} | {text} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(settings_table(), end="")
