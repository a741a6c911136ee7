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
    (
        "ALTER TABLE threads ADD COLUMN title TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE threads ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0",
        """UPDATE threads SET
            updated_at = max(created_at, coalesce((SELECT max(created_at) FROM messages WHERE thread = threads.id), 0)),
            title = coalesce((SELECT trim(substr(replace(content, char(10), ' '), 1, 80)) FROM messages
                WHERE thread = threads.id AND role = 'user' ORDER BY seq LIMIT 1), '')""",
        "CREATE INDEX threads_by_change ON threads (updated_at, seq)",
        """CREATE TABLE artifacts (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
            turn TEXT NOT NULL,
            kind TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            lines INTEGER NOT NULL,
            created_at INTEGER NOT NULL
        )""",
        "CREATE INDEX artifacts_by_thread ON artifacts (thread, seq)",
        """CREATE TABLE traces (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
            turn TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            created_at INTEGER NOT NULL
        )""",
        "CREATE INDEX traces_by_thread ON traces (thread, seq)",
        """CREATE TABLE feedback (
            message TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
            verdict TEXT NOT NULL CHECK (verdict IN ('up', 'down')),
            text TEXT NOT NULL DEFAULT '',
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE memories (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            content TEXT NOT NULL,
            trust TEXT NOT NULL CHECK (trust IN ('reader', 'site', 'model')),
            source TEXT NOT NULL,
            confidence REAL NOT NULL,
            importance REAL NOT NULL,
            created_at INTEGER NOT NULL
        )""",
        """CREATE TABLE instructions (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            text TEXT NOT NULL,
            author_json TEXT NOT NULL,
            created_at INTEGER NOT NULL
        )""",
        # What the reader saw, by word. The text itself stays in `messages`; the triggers keep the two together.
        """CREATE VIRTUAL TABLE messages_fts USING fts5 (
            content, content = 'messages', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2'
        )""",
        """CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
            INSERT INTO messages_fts (rowid, content) VALUES (new.seq, new.content);
        END""",
        """CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
            INSERT INTO messages_fts (messages_fts, rowid, content) VALUES ('delete', old.seq, old.content);
        END""",
        """CREATE TRIGGER messages_fts_update AFTER UPDATE OF content ON messages BEGIN
            INSERT INTO messages_fts (messages_fts, rowid, content) VALUES ('delete', old.seq, old.content);
            INSERT INTO messages_fts (rowid, content) VALUES (new.seq, new.content);
        END""",
        "INSERT INTO messages_fts (messages_fts) VALUES ('rebuild')",
    ),
)
