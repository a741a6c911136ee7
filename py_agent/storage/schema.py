"""The schema, as the steps that lead to it. A released step is never edited: a change is a new step at the end.

Columns ending in ``_json`` hold JSON text; ``*_at`` are milliseconds since the epoch, UTC. ``seq`` orders rows by when
they were written, which clocks do not.
"""

from __future__ import annotations

from typing import Final

#: One tuple of statements per version of the file; ``PRAGMA user_version`` tells how many of them a file has had.
STEPS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE threads (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            created_at INTEGER NOT NULL
        )""",
        """CREATE TABLE messages (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
            turn TEXT NOT NULL DEFAULT '',
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
            content TEXT NOT NULL,
            model_content TEXT NOT NULL DEFAULT '',
            state TEXT NOT NULL CHECK (state IN ('open', 'done', 'interrupted')),
            status TEXT,
            sources_json TEXT NOT NULL DEFAULT '[]',
            related_json TEXT NOT NULL DEFAULT '[]',
            created_at INTEGER NOT NULL
        )""",
        "CREATE INDEX messages_by_thread ON messages (thread, seq)",
        "CREATE INDEX messages_open ON messages (state) WHERE state = 'open'",
        """CREATE TABLE tool_calls (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
            turn TEXT NOT NULL,
            tool TEXT NOT NULL,
            arguments_json TEXT NOT NULL,
            checksum TEXT NOT NULL,
            is_error INTEGER NOT NULL,
            shown TEXT NOT NULL,
            spool_key TEXT,
            created_at INTEGER NOT NULL
        )""",
        "CREATE INDEX tool_calls_by_thread ON tool_calls (thread, seq)",
        """CREATE TABLE thoughts (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
            turn TEXT NOT NULL,
            kind TEXT NOT NULL,
            text TEXT NOT NULL,
            created_at INTEGER NOT NULL
        )""",
        "CREATE INDEX thoughts_by_thread ON thoughts (thread, seq)",
        """CREATE TABLE kv (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) WITHOUT ROWID""",
    ),
)
