"""The protocol is written twice, in JavaScript and in Python: the two must say the same."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from py_agent.browser import protocol

ROOT = Path(__file__).resolve().parent.parent
TABLES = (
    "SESSION_REQUESTS",
    "SESSION_REPLIES",
    "ENGINE_REQUESTS",
    "ENGINE_REPLIES",
    "STORAGE_REQUESTS",
    "STORAGE_REPLIES",
)


@pytest.fixture(scope="module")
def javascript() -> dict[str, Any]:
    """What ``worker/protocol.js`` exports."""
    node = shutil.which("node")
    assert node, "Node is needed to read worker/protocol.js: install Node 20 or newer"
    program = 'import("./worker/protocol.js").then((twin) => console.log(JSON.stringify(twin)))'
    done = subprocess.run([node, "--eval", program], cwd=ROOT, capture_output=True, text=True, check=True)
    exported: dict[str, Any] = json.loads(done.stdout)
    return exported


@pytest.mark.parametrize("table", TABLES)
def test_both_twins_list_the_same_messages_and_fields(javascript: dict[str, Any], table: str) -> None:
    python = {name: list(fields) for name, fields in getattr(protocol, table).items()}
    assert python == javascript[table]


def test_both_twins_have_the_same_version_and_states(javascript: dict[str, Any]) -> None:
    assert javascript["PROTOCOL_VERSION"] == protocol.PROTOCOL_VERSION
    assert javascript["STATES"] == list(protocol.STATES)


def test_no_table_exists_on_one_side_only(javascript: dict[str, Any]) -> None:
    assert {name for name in javascript if name.endswith(("_REQUESTS", "_REPLIES"))} == set(TABLES)


def test_a_message_tells_which_fields_it_lacks() -> None:
    assert protocol.missing_fields(protocol.SESSION_REQUESTS, {"type": "stop", "id": "1"}) == ("ask",)
    assert protocol.missing_fields(protocol.SESSION_REQUESTS, {"type": "nonsense"}) is None
