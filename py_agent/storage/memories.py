"""What the reader had kept, and said about answers: memories, standing instructions, feedback."""

from __future__ import annotations

from py_agent.model.errors import StorageError
from py_agent.model.identity import Identity
from py_agent.model.instruction import StandingInstruction
from py_agent.model.memory import Memory
from py_agent.model.record import Feedback
from py_agent.search.tokens import stem, terms
from py_agent.storage.base import Row
from py_agent.storage.tables import Tables

#: Memories that a search looks at, the newest. One costs about 20 microseconds, and nobody has that many by hand.
SEARCHED_MEMORIES = 1_000

_MEMORY = "id, content, trust, source, confidence, importance, created_at"


class Memories(Tables):
    """What outlives a thread (``storage/base.py``: MemoryStore). Every method raises as ``Connection`` does."""

    async def add_memory(self, memory: Memory) -> None:
        """Keeps ``memory``; one with the same id is replaced."""
        await self._db.execute(
            f"INSERT OR REPLACE INTO memories ({_MEMORY}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                memory.id,
                memory.content,
                memory.trust,
                memory.source,
                memory.confidence,
                memory.importance,
                memory.created_at,
            ),
        )

    async def list_memories(self) -> list[Memory]:
        """All memories, the newest first."""
        return [Memory(**row) for row in await self._db.execute(f"SELECT {_MEMORY} FROM memories ORDER BY seq DESC")]

    async def search_memories(self, query: str, top: int) -> list[Memory]:
        """The memories that share most words with ``query``, best first; an empty query gives the newest."""
        rows = await self._db.execute(
            f"SELECT {_MEMORY} FROM memories ORDER BY seq DESC LIMIT ?", (SEARCHED_MEMORIES if query.strip() else top,)
        )
        if not query.strip():
            return [Memory(**row) for row in rows]
        wanted = _words(query)

        def score(row: Row) -> tuple[int, float]:
            return len(wanted & _words(row["content"])), row["importance"]

        ranked = sorted(((score(row), row) for row in rows), key=lambda pair: pair[0], reverse=True)
        return [Memory(**row) for (shared, _), row in ranked[:top] if shared]

    async def delete_memory(self, memory_id: str) -> bool:
        """Forgets a memory; whether there was one."""
        return await self._delete("memories", "id", memory_id)

    async def add_instruction(self, instruction: StandingInstruction) -> None:
        """Keeps a standing instruction; one with the same id is changed and keeps its place."""
        await self._db.execute(
            "INSERT INTO instructions (id, text, author_json, created_at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET text = excluded.text, author_json = excluded.author_json",
            (instruction.id, instruction.text, instruction.author.model_dump_json(), instruction.created_at),
        )

    async def instructions(self) -> list[StandingInstruction]:
        """The standing instructions, oldest first."""
        rows = await self._db.execute("SELECT id, text, author_json, created_at FROM instructions ORDER BY seq")
        return [
            StandingInstruction(
                id=row["id"],
                text=row["text"],
                author=Identity.model_validate_json(row["author_json"]),
                created_at=row["created_at"],
            )
            for row in rows
        ]

    async def delete_instruction(self, instruction_id: str) -> bool:
        """Drops a standing instruction; whether there was one."""
        return await self._delete("instructions", "id", instruction_id)

    async def set_feedback(self, feedback: Feedback) -> None:
        """Keeps what the reader thinks of an answer, in place of what was said before.

        Raises:
            StorageError: ``no_such_message``: there is no such answer.
        """
        rows = await self._db.execute(
            "INSERT OR REPLACE INTO feedback (message, verdict, text, created_at)"
            " SELECT id, ?, ?, ? FROM messages WHERE id = ? AND role = 'assistant' RETURNING message",
            (feedback.verdict, feedback.text, feedback.created_at, feedback.message),
        )
        if not rows:
            raise StorageError(
                "The answer that was judged is not stored any more.", hint="Reload the page.", code="no_such_message"
            )

    async def remove_feedback(self, message: str) -> bool:
        """Takes the reader's verdict on an answer back; whether there was one."""
        return await self._delete("feedback", "message", message)

    async def feedback(self, thread: str) -> dict[str, Feedback]:
        """The verdicts on the answers of a thread, by message."""
        rows = await self._db.execute(
            "SELECT message, verdict, text, created_at FROM feedback"
            " WHERE message IN (SELECT id FROM messages WHERE thread = ?)",
            (thread,),
        )
        return {row["message"]: Feedback(**row) for row in rows}

    async def _delete(self, table: str, column: str, value: str) -> bool:
        rows = await self._db.execute(f"DELETE FROM {table} WHERE {column} = ? RETURNING 1 AS gone", (value,))
        if rows:
            await self.scrub()
        return bool(rows)


def _words(text: str) -> set[str]:
    return {stem(term) for term in terms(text)}
