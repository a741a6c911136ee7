"""Threads, messages, tool calls and thoughts over any ``Connection``: the ``TurnStore`` of page and terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from py_agent.model.record import Source, StoredMessage, StoredThought, StoredToolCall, TurnRecord, now_ms
from py_agent.storage.base import Connection, Row, Statement
from py_agent.storage.migrations import migrate

_INSERT_THREAD = "INSERT OR IGNORE INTO threads (id, created_at) VALUES (?, ?)"
_INSERT_MESSAGE = (
    "INSERT INTO messages (id, thread, turn, role, content, model_content, state, status, sources_json, related_json,"
    " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_CALL = (
    "INSERT INTO tool_calls (id, thread, turn, tool, arguments_json, checksum, is_error, shown, spool_key, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_THOUGHT = "INSERT INTO thoughts (id, thread, turn, kind, text, created_at) VALUES (?, ?, ?, ?, ?, ?)"
_FINISH_QUESTION = "UPDATE messages SET state = 'done', turn = ? WHERE id = ? AND role = 'user'"
_INTERRUPT_ONE = "UPDATE messages SET state = 'interrupted' WHERE id = ? AND state = 'open'"
_OPEN_TURNS = "SELECT turn FROM messages WHERE state = 'open' AND turn != ''"
_INTERRUPT_ALL = "UPDATE messages SET state = 'interrupted' WHERE state = 'open'"


class Store:
    """What a site's readers said and were answered.

    Args:
        connection: The database; ``open`` brings it to the current schema.
    """

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    async def open(self) -> None:
        """Brings the database to the current schema.

        Raises:
            StorageError: ``newer``; else as ``Connection.execute``. So do all other methods.
        """
        await migrate(self._db)

    async def new_thread(self) -> str:
        """Starts a thread, which is the latest from now on; returns its id."""
        thread = new_id()
        await self._db.execute(_INSERT_THREAD, (thread, now_ms()))
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
        await self._db.transaction(
            [(_INSERT_THREAD, (thread, message.created_at)), (_INSERT_MESSAGE, _message_row(message))]
        )
        return message.id

    async def commit_turn(self, turn: TurnRecord) -> None:
        """Writes the answer, tool calls and thoughts and marks the question ``done``: ONE transaction."""
        statements: list[Statement] = [
            (_FINISH_QUESTION, (turn.turn, message)) for message in (turn.question, *turn.added)
        ]
        statements += [(_INSERT_CALL, _call_row(turn, call)) for call in turn.tool_calls]
        statements += [(_INSERT_THOUGHT, _thought_row(turn, thought)) for thought in turn.thoughts]
        statements.append((_INSERT_MESSAGE, _message_row(turn.answer)))
        await self._db.transaction(statements)

    async def mark_interrupted(self, message_id: str) -> None:
        """Sets an ``open`` question to ``interrupted``; does nothing to one in another state."""
        await self._db.execute(_INTERRUPT_ONE, (message_id,))

    async def interrupt_open_questions(self) -> list[str]:
        """Marks every question ``interrupted`` that is still ``open``: what a killed tab leaves behind.

        To be called by the one leader before its first turn.

        Returns:
            Ids of the turns that the questions belonged to: what they left in the spool is nobody's.
        """
        rows = await self._db.execute(_OPEN_TURNS)
        await self._db.execute(_INTERRUPT_ALL)
        return [str(row["turn"]) for row in rows]

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


def new_id() -> str:
    """An id that no other row has: 16 random bytes in hex."""
    return os.urandom(16).hex()


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


def _call_row(turn: TurnRecord, call: StoredToolCall) -> tuple[Any, ...]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return (
        call.id,
        turn.thread,
        turn.turn,
        call.tool,
        arguments,
        call.checksum,
        int(call.is_error),
        call.shown,
        call.spool_key,
        call.created_at,
    )


def _thought_row(turn: TurnRecord, thought: StoredThought) -> tuple[Any, ...]:
    return (thought.id, turn.thread, turn.turn, thought.kind, thought.text, thought.created_at)
