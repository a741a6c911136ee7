"""The store over any ``Connection``. Here: what turns write and read. Its other parts: ``threads.py``, ``memories.py``,
``traces.py``; what takes store and spool together: ``deletion.py``, ``export.py``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from py_agent.model.record import (
    Feedback,
    Source,
    StoredArtifact,
    StoredMessage,
    StoredThought,
    StoredToolCall,
    TurnRecord,
    now_ms,
)
from py_agent.storage.base import Row, Statement
from py_agent.storage.memories import Memories
from py_agent.storage.migrations import migrate
from py_agent.storage.tables import new_id
from py_agent.storage.threads import Threads, title_of
from py_agent.storage.traces import Traces

__all__ = [
    "Store",
    "artifact_insert",
    "call_insert",
    "feedback_insert",
    "message_insert",
    "new_id",
    "thought_insert",
    "thread_insert",
]

_INSERT_THREAD = "INSERT OR IGNORE INTO threads (id, created_at, updated_at) VALUES (?, ?, ?)"
_TOUCH_THREAD = "UPDATE threads SET updated_at = max(updated_at, ?) WHERE id = ?"
_FIRST_TITLE = "UPDATE threads SET title = ? WHERE id = ? AND title = ''"
_INSERT_MESSAGE = (
    "INSERT INTO messages (id, thread, turn, role, content, model_content, state, status, sources_json, related_json,"
    " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_CALL = (
    "INSERT INTO tool_calls (id, thread, turn, tool, arguments_json, checksum, is_error, shown, spool_key, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_THOUGHT = "INSERT INTO thoughts (id, thread, turn, kind, text, created_at) VALUES (?, ?, ?, ?, ?, ?)"
_INSERT_ARTIFACT = (
    "INSERT OR REPLACE INTO artifacts (key, kind, bytes, lines, thread, turn, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_FINISH_QUESTION = "UPDATE messages SET state = 'done', turn = ? WHERE id = ? AND role = 'user'"
_INTERRUPT_ONE = "UPDATE messages SET state = 'interrupted' WHERE id = ? AND state = 'open'"
# A turn with an answer is committed: words that came too late for it may still be open, but its tool results are kept.
_OPEN_TURNS = (
    "SELECT DISTINCT thread, turn FROM messages AS asked WHERE state = 'open' AND turn != '' AND NOT EXISTS"
    " (SELECT 1 FROM messages WHERE turn = asked.turn AND role = 'assistant')"
)
_INTERRUPT_ALL = "UPDATE messages SET state = 'interrupted' WHERE state = 'open'"


class Store(Threads, Memories, Traces):
    """What a site's readers said and were answered. ``open`` it first."""

    async def open(self) -> None:
        """Brings the database to the current schema.

        Raises:
            StorageError: ``newer``; else as ``Connection.execute``. So do all other methods.
        """
        await migrate(self._db)

    async def new_thread(self) -> str:
        """Starts a thread, which is the latest from now on; returns its id."""
        thread = new_id()
        now = now_ms()
        await self._db.execute(_INSERT_THREAD, (thread, now, now))
        return thread

    async def latest_thread(self) -> str | None:
        """Id of the thread that was started last; None if there is none."""
        rows = await self._db.execute("SELECT id FROM threads ORDER BY seq DESC LIMIT 1")
        return str(rows[0]["id"]) if rows else None

    async def open_question(self, thread: str, text: str, turn: str) -> str:
        """Commits the reader's question at once, in state ``open``; makes the thread if there is none.

        Returns:
            The message's id.
        """
        message = StoredMessage(id=new_id(), thread=thread, turn=turn, role="user", content=text, state="open")
        now = message.created_at
        await self._db.transaction(
            [
                (_INSERT_THREAD, (thread, now, now)),
                (_TOUCH_THREAD, (now, thread)),
                (_FIRST_TITLE, (title_of(text), thread)),
                message_insert(message),
            ]
        )
        return message.id

    async def commit_turn(self, turn: TurnRecord) -> None:
        """Writes the answer, tool calls and thoughts and marks the question ``done``: ONE transaction."""
        statements: list[Statement] = [
            (_FINISH_QUESTION, (turn.turn, message)) for message in (turn.question, *turn.added)
        ]
        statements += [call_insert(turn.thread, turn.turn, call) for call in turn.tool_calls]
        statements += [thought_insert(turn.thread, turn.turn, thought) for thought in turn.thoughts]
        statements += [artifact_insert(artifact) for artifact in turn.artifacts]
        statements += [message_insert(turn.answer), (_TOUCH_THREAD, (turn.answer.created_at, turn.thread))]
        await self._db.transaction(statements)

    async def mark_interrupted(self, message_id: str) -> None:
        """Sets an ``open`` question to ``interrupted``; does nothing to one in another state."""
        await self._db.execute(_INTERRUPT_ONE, (message_id,))

    async def interrupt_open_questions(self) -> list[str]:
        """Marks every question ``interrupted`` that is still ``open``: what a killed tab leaves behind.

        To be called by the one leader before its first turn.

        Returns:
            Ids of the turns that the questions belonged to and that were not committed: what they left in the spool is
            nobody's.
        """
        turns = [turn for _, turn in await self.open_turns()]
        await self._db.execute(_INTERRUPT_ALL)
        return turns

    async def open_turns(self) -> list[tuple[str, str]]:
        """Thread and turn of each question that is still ``open`` and whose turn was not committed."""
        return [(str(row["thread"]), str(row["turn"])) for row in await self._db.execute(_OPEN_TURNS)]

    async def history(self, thread: str) -> list[StoredMessage]:
        """The messages of a thread, oldest first; empty if there is no such thread."""
        rows = await self._db.execute("SELECT * FROM messages WHERE thread = ? ORDER BY seq", (thread,))
        return [_message(row) for row in rows]

    async def tool_calls(self, thread: str) -> list[StoredToolCall]:
        """The tool calls of a thread, oldest first."""
        rows = await self._db.execute("SELECT * FROM tool_calls WHERE thread = ? ORDER BY seq", (thread,))
        return [
            StoredToolCall(
                id=row["id"],
                tool=row["tool"],
                arguments=json.loads(row["arguments_json"]),
                checksum=row["checksum"],
                is_error=bool(row["is_error"]),
                shown=row["shown"],
                spool_key=row["spool_key"],
                created_at=row["created_at"],
            )
            for row in rows
        ]

    async def thoughts(self, thread: str) -> list[StoredThought]:
        """The thoughts of a thread, oldest first."""
        rows = await self._db.execute(
            "SELECT id, kind, text, created_at FROM thoughts WHERE thread = ? ORDER BY seq", (thread,)
        )
        return [StoredThought(**row) for row in rows]

    async def close(self) -> None:
        """Closes the connection. Closing twice is allowed."""
        await self._db.close()


def thread_insert(thread: str, title: str, created_at: int, updated_at: int) -> Statement:
    """The statement that stores a thread."""
    insert = "INSERT INTO threads (id, title, created_at, updated_at) VALUES (?, ?, ?, ?)"
    return insert, (thread, title, created_at, updated_at)


def feedback_insert(feedback: Feedback) -> Statement:
    """The statement that stores what the reader thinks of an answer."""
    return "INSERT INTO feedback (message, verdict, text, created_at) VALUES (?, ?, ?, ?)", tuple(
        feedback.model_dump().values()
    )


def message_insert(message: StoredMessage) -> Statement:
    """The statement that stores a message."""
    return _INSERT_MESSAGE, _message_row(message)


def call_insert(thread: str, turn: str, call: StoredToolCall) -> Statement:
    """The statement that stores a tool call."""
    return _INSERT_CALL, _call_row(thread, turn, call)


def thought_insert(thread: str, turn: str, thought: StoredThought) -> Statement:
    """The statement that stores a thought."""
    return _INSERT_THOUGHT, (thought.id, thread, turn, thought.kind, thought.text, thought.created_at)


def artifact_insert(artifact: StoredArtifact) -> Statement:
    """The statement that notes what lies in the spool."""
    return _INSERT_ARTIFACT, tuple(artifact.model_dump().values())


def _json(sources: Sequence[Source]) -> str:
    return json.dumps([source.model_dump(mode="json") for source in sources], ensure_ascii=False)


def _message_row(message: StoredMessage) -> tuple[Any, ...]:
    return (
        message.id,
        message.thread,
        message.turn,
        message.role,
        message.content,
        message.model_content,
        message.state,
        message.status,
        _json(message.sources),
        _json(message.related),
        message.created_at,
    )


def _message(row: Row) -> StoredMessage:
    plain = {key: value for key, value in row.items() if key not in ("seq", "sources_json", "related_json")}
    sources, related = json.loads(row["sources_json"]), json.loads(row["related_json"])
    return StoredMessage.model_validate({**plain, "sources": sources, "related": related})


def _call_row(thread: str, turn: str, call: StoredToolCall) -> tuple[Any, ...]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return (
        call.id,
        thread,
        turn,
        call.tool,
        arguments,
        call.checksum,
        int(call.is_error),
        call.shown,
        call.spool_key,
        call.created_at,
    )
