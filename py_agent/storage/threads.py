"""The threads of a store: lists, titles, search, and what belongs to one."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from py_agent.model.errors import StorageError
from py_agent.model.record import StoredArtifact, StoredThread, ThreadHit, ThreadPage
from py_agent.storage.base import Row, Statement
from py_agent.storage.tables import PENDING_ASIDE, PENDING_SPOOL, Tables

#: Characters of a title: one line of a list.
MAX_TITLE_CHARS = 80

#: Threads of one page of the list when the caller does not say.
PAGE_THREADS = 50

#: Threads of one page, and hits of one search, at most.
MAX_THREADS = 200

#: Words of a query that count: more say no more about what is meant, and each costs a look at the index.
MAX_QUERY_WORDS = 16

#: Messages looked at to find the threads of a search: one thread may have many that fit.
SEARCHED_MESSAGES = 500

#: Words of a snippet from the index, and characters around a hit in a script without spaces.
_SNIPPET_WORDS = 24
_SNIPPET_CHARS = 60

_SUMMARY = (
    "SELECT id, title, created_at, updated_at, seq,"
    " (SELECT count(*) FROM messages WHERE thread = threads.id) AS messages FROM threads"
)
_TURNS = (
    "SELECT turn FROM messages WHERE thread = ?1 UNION SELECT turn FROM tool_calls WHERE thread = ?1"
    " UNION SELECT turn FROM artifacts WHERE thread = ?1 UNION SELECT turn FROM traces WHERE thread = ?1"
)
#: Every table with the reader's words or what was made of them; rows of a thread go with their thread.
_ALL_TABLES = (
    "feedback",
    "traces",
    "artifacts",
    "thoughts",
    "tool_calls",
    "messages",
    "threads",
    "memories",
    "instructions",
    "kv",
)
_NOTE = "INSERT OR REPLACE INTO kv (key, value) VALUES (?, '')"
_WITH_IDS = ("threads", "messages", "tool_calls", "thoughts")
_WITH_TURNS = ("messages", "tool_calls", "thoughts", "artifacts", "traces")
_OF_A_THREAD = ("traces", "artifacts", "thoughts", "tool_calls", "messages")

_WORD = re.compile(r"\w+")
# Scripts that put no spaces between words: the index has whole runs of them, so parts are looked for in the text.
_NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


class Threads(Tables):
    """Threads as a whole. Every method raises ``StorageError`` as ``Connection`` does."""

    async def list_threads(self, top: int = PAGE_THREADS, cursor: str | None = None) -> ThreadPage:
        """The threads, the last changed first.

        Args:
            top: How many, at most ``MAX_THREADS``.
            cursor: ``next`` of the page before; None: from the beginning.

        Raises:
            StorageError: ``bad_cursor``.
        """
        top = max(1, min(top, MAX_THREADS))
        where, params = "", []
        if cursor is not None:
            match = re.fullmatch(r"(\d{1,18})-(\d{1,18})", cursor)
            if match is None:
                raise StorageError(
                    "The place in the list of conversations is not known.",
                    hint="Load the list again.",
                    code="bad_cursor",
                )
            where, params = " WHERE (updated_at, seq) < (?, ?)", [int(match[1]), int(match[2])]
        rows = await self._db.execute(
            f"{_SUMMARY}{where} ORDER BY updated_at DESC, seq DESC LIMIT ?", (*params, top + 1)
        )
        page = rows[:top]
        more = f"{page[-1]['updated_at']}-{page[-1]['seq']}" if len(rows) > top else None
        return ThreadPage(threads=tuple(_thread(row) for row in page), next=more)

    async def thread(self, thread: str) -> StoredThread | None:
        """One thread; None if there is no such thread."""
        rows = await self._db.execute(f"{_SUMMARY} WHERE id = ?", (thread,))
        return _thread(rows[0]) if rows else None

    async def rename_thread(self, thread: str, title: str) -> bool:
        """Gives a thread a title, cut to one line of ``MAX_TITLE_CHARS``; whether there is such a thread."""
        rows = await self._db.execute(
            "UPDATE threads SET title = ? WHERE id = ? RETURNING id", (title_of(title), thread)
        )
        return bool(rows)

    async def artifacts(self, thread: str) -> list[StoredArtifact]:
        """What a thread's turns have left in the spool, oldest first."""
        rows = await self._db.execute(
            "SELECT key, kind, bytes, lines, thread, turn, created_at FROM artifacts WHERE thread = ? ORDER BY seq",
            (thread,),
        )
        return [StoredArtifact(**row) for row in rows]

    async def turns_of(self, thread: str) -> list[str]:
        """Ids of all turns of a thread."""
        return [str(row["turn"]) for row in await self._db.execute(_TURNS, (thread,)) if row["turn"]]

    async def turns_of_rows(self, thread: str) -> dict[str, str]:
        """The turn of each tool call and thought of a thread, by id."""
        rows = await self._db.execute(
            "SELECT id, turn FROM tool_calls WHERE thread = ?1"
            " UNION ALL SELECT id, turn FROM thoughts WHERE thread = ?1",
            (thread,),
        )
        return {str(row["id"]): str(row["turn"]) for row in rows}

    async def any_taken(self, ids: Sequence[str], turns: Sequence[str]) -> bool:
        """Whether a row has one of the ids, or belongs to one of the turns."""
        places = [(f"{table} WHERE id", ids) for table in _WITH_IDS]
        places += [(f"{table} WHERE turn", turns) for table in _WITH_TURNS]
        for place, wanted in places:
            sql = f"SELECT 1 FROM {place} IN (SELECT value FROM json_each(?)) LIMIT 1"
            if await self._db.execute(sql, (json.dumps(wanted),)):
                return True
        return False

    async def commit_import(self, statements: Sequence[Statement], noted: Sequence[str]) -> None:
        """Writes the rows of a file and drops the notes of ``note_pending``, in ONE transaction."""
        await self._db.transaction([*statements, *(("DELETE FROM kv WHERE key = ?", (key,)) for key in noted)])

    async def note_pending(self, keys: Sequence[str]) -> None:
        """Notes what the next start is to delete, should this one not come to its end."""
        await self._db.transaction([(_NOTE, (key,)) for key in keys])

    async def search_threads(self, query: str, top: int = 20) -> list[ThreadHit]:
        """Threads in which all words of ``query`` stand, in one message or in the title; the best first.

        Case and accents do not count, and a word may be the beginning of a longer one. The query is words and nothing
        else: it has no operators.

        Args:
            query: The reader's words.
            top: Threads at most, and never more than ``MAX_THREADS``.
        """
        words = _WORD.findall(unicodedata.normalize("NFC", query).replace("_", " "))[:MAX_QUERY_WORDS]
        if not words:
            return []
        found: dict[str, ThreadHit] = {}
        for row in [*await self._messages_with(words), *await self._titles_with(words)]:
            if row["thread"] not in found:
                found[row["thread"]] = _hit(row, words)
        return list(found.values())[: max(1, min(top, MAX_THREADS))]

    async def _messages_with(self, words: Sequence[str]) -> list[Row]:
        runs = [word for word in words if _NO_SPACES.search(word)]
        indexed = [f'"{word}"*' for word in words if not _NO_SPACES.search(word)]
        likes = " AND ".join("m.content LIKE ? ESCAPE '\\'" for _ in runs)
        params: list[Any] = [_like(run) for run in runs]
        shown = "m.thread, t.title, m.id AS message, m.role, m.content, m.created_at"
        if not indexed:
            return await self._db.execute(
                f"SELECT {shown}, NULL AS snippet FROM messages m JOIN threads t ON t.id = m.thread WHERE {likes}"
                " ORDER BY m.seq DESC LIMIT ?",
                (*params, SEARCHED_MESSAGES),
            )
        return await self._db.execute(
            f"SELECT {shown}, snippet(messages_fts, 0, char(1), char(2), '…', {_SNIPPET_WORDS}) AS snippet"
            " FROM messages_fts JOIN messages m ON m.seq = messages_fts.rowid JOIN threads t ON t.id = m.thread"
            f" WHERE messages_fts MATCH ?{' AND ' + likes if likes else ''} ORDER BY rank LIMIT ?",
            (" AND ".join(indexed), *params, SEARCHED_MESSAGES),
        )

    async def _titles_with(self, words: Sequence[str]) -> list[Row]:
        likes = " AND ".join("' ' || title LIKE ? ESCAPE '\\'" for _ in words)
        return await self._db.execute(
            "SELECT id AS thread, title, NULL AS message, NULL AS role, '' AS content, created_at, NULL AS snippet"
            f" FROM threads WHERE {likes} ORDER BY updated_at DESC LIMIT ?",
            (*(_like(word if _NO_SPACES.search(word) else f" {word}") for word in words), MAX_THREADS),
        )

    async def remove_thread(self, thread: str, prefixes: Sequence[str]) -> None:
        """Deletes the rows of a thread and notes what is to follow (``storage/deletion.py`` does it), in ONE
        transaction.

        Args:
            thread: Its id.
            prefixes: What the spool keys start with that are to be deleted.
        """
        pending = [f"{PENDING_SPOOL}{prefix}" for prefix in prefixes] + [f"{PENDING_ASIDE}{thread}"]
        statements: list[Statement] = [(f"DELETE FROM {table} WHERE thread = ?", (thread,)) for table in _OF_A_THREAD]
        statements.append(("DELETE FROM threads WHERE id = ?", (thread,)))
        await self._remove(statements, pending)

    async def remove_everything(self) -> None:
        """Deletes all rows of all tables and notes that the rest is to follow, in ONE transaction."""
        await self._remove([(f"DELETE FROM {table}", ()) for table in _ALL_TABLES], [PENDING_SPOOL, PENDING_ASIDE])

    async def _remove(self, statements: Sequence[Statement], pending: Sequence[str]) -> None:
        first: list[Statement] = []
        if await self._deletes_words():
            first = [("INSERT INTO messages_fts (messages_fts, rank) VALUES ('secure-delete', 1)", ())]
        notes: list[Statement] = [(_NOTE, (key,)) for key in pending]
        await self._db.transaction([*first, *statements, *notes])

    async def pending(self) -> list[str]:
        """Keys in ``kv`` of what deletions still have to do: ``PENDING_SPOOL`` or ``PENDING_ASIDE`` in front."""
        rows = await self._db.execute("SELECT key FROM kv WHERE key >= 'forget' AND key < 'forgeu'")
        return [str(row["key"]) for row in rows]

    async def settle(self, keys: Sequence[str]) -> None:
        """Takes what was deleted out of the files, then drops the notes: what fails is done at the next start."""
        await self.scrub()
        await self._db.transaction([("DELETE FROM kv WHERE key = ?", (key,)) for key in keys])

    async def forget_set_aside(self, containing: str | None) -> int:
        """See ``Connection.forget_set_aside``."""
        return await self._db.forget_set_aside(containing)


def title_of(text: str) -> str:
    """A text as one line of ``MAX_TITLE_CHARS``."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_TITLE_CHARS else f"{line[: MAX_TITLE_CHARS - 1].rstrip()}…"


def _thread(row: Row) -> StoredThread:
    return StoredThread(**{key: value for key, value in row.items() if key != "seq"})


def _like(word: str) -> str:
    return "%" + re.sub(r"([\\%_])", r"\\\1", word) + "%"


def _hit(row: Row, words: Sequence[str]) -> ThreadHit:
    snippet = _marked(row["snippet"]) if row["snippet"] is not None else _around(row["content"], words)
    return ThreadHit(
        thread=row["thread"],
        title=row["title"],
        message=row["message"],
        role=row["role"],
        snippet=snippet,
        created_at=row["created_at"],
    )


def _marked(snippet: str) -> tuple[tuple[str, bool], ...]:
    """The runs of a snippet of the index, whose hits stand between the characters 1 and 2."""
    runs: list[tuple[str, bool]] = []
    for part in re.split("(\x01[^\x02]*\x02)", snippet):
        text = part.replace("\x01", "").replace("\x02", "")
        if text:
            runs.append((text, part.startswith("\x01")))
    return tuple(runs)


def _around(content: str, words: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """The text around the first word that stands in ``content`` as it was typed."""
    for word in words:
        at = content.find(word)
        if at >= 0:
            start, end = max(0, at - _SNIPPET_CHARS), at + len(word) + _SNIPPET_CHARS
            before = ("…" if start else "") + content[start:at]
            after = content[at + len(word) : end] + ("…" if end < len(content) else "")
            return tuple(run for run in ((before, False), (word, True), (after, False)) if run[0])
    return ((content[: 2 * _SNIPPET_CHARS], False),) if content else ()
