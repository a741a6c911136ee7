"""Twin of ``worker/protocol.js``: every message that crosses a port. A test compares the two.

A message is a JSON object with its name in ``type`` and these fields; the JavaScript file tells what they mean.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

#: Version of all ports together: a page and a worker of two builds refuse each other at the start.
PROTOCOL_VERSION: Final = 1

Table = dict[str, tuple[str, ...]]

SESSION_REQUESTS: Final[Table] = {
    "start": ("version", "assets", "config"),
    "ask": ("id", "text", "thread", "page"),
    "stop": ("id", "ask"),
    "decide": ("id", "ask", "gate", "value"),
    "add": ("id", "ask", "text"),
    "search": ("id", "query", "top"),
    "thread": ("id",),
    "new_thread": ("id",),
    "threads": ("id", "top", "cursor"),
    "open_thread": ("id", "thread"),
    "rename_thread": ("id", "thread", "title"),
    "delete_thread": ("id", "thread"),
    "search_threads": ("id", "query", "top"),
    "export_thread": ("id", "thread"),
    "import_thread": ("id", "text"),
    "feedback": ("id", "message", "verdict", "text"),
}

SESSION_REPLIES: Final[Table] = {
    "state": ("state", "message", "code", "hint", "engine", "timings"),
    "event": ("id", "event"),
    "result": ("id", "value"),
    "error": ("id", "error"),
}

STATES: Final = ("loading", "waiting", "ready", "failed")

ENGINE_REQUESTS: Final[Table] = {
    "load": ("id", "wasm", "model", "backend", "window"),
    "generate": ("id", "prompt", "max_output_tokens", "credit"),
    "credit": ("ask", "chunks"),
    "cancel": ("id", "ask"),
    "count_tokens": ("id", "text"),
    "unload": ("id",),
}

ENGINE_REPLIES: Final[Table] = {
    "up": ("lock",),
    "progress": ("id", "loaded", "total"),
    "chunk": ("id", "text", "thinking", "call"),
    "end": ("id", "chunks", "reason", "prompt_tokens", "output_tokens"),
    "device_lost": ("reason",),
    "result": ("id", "value"),
    "error": ("id", "error"),
}

STORAGE_REQUESTS: Final[Table] = {
    "open": ("id", "wasm", "directory"),
    "execute": ("id", "sql", "params"),
    "transaction": ("id", "statements"),
    "forget_set_aside": ("id", "containing"),
    "spool_write": ("id", "key"),
    "spool_append": ("id", "key"),
    "spool_read": ("id", "key", "start", "end"),
    "spool_size": ("id", "key"),
    "spool_delete": ("id", "prefix"),
    "close": ("id",),
}

STORAGE_REPLIES: Final[Table] = {
    "up": ("lock",),
    "result": ("id", "value"),
    "error": ("id", "error"),
}


def missing_fields(table: Table, message: dict[str, Any]) -> tuple[str, ...] | None:
    """The fields that ``message`` lacks; None if ``table`` has no message of its name."""
    fields = table.get(str(message.get("type")))
    if fields is None:
        return None
    return tuple(field for field in fields if field not in message)


#: The largest whole number that JavaScript tells from its neighbours.
MAX_SAFE_INTEGER: Final = 2**53 - 1

_LONG_NUMBER = re.compile(r"\d{16}")


def wire_text(message: Any) -> str:
    """A message as JSON text. A whole number that JavaScript would round goes as the text of its digits."""
    text = json.dumps(message, ensure_ascii=False)
    return json.dumps(_safe(message), ensure_ascii=False) if _LONG_NUMBER.search(text) else text


def _safe(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_safe(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_SAFE_INTEGER:
        return str(value)
    return value
