"""What a turn leaves behind: the records that the store keeps and the widget shows again after a reload."""

from __future__ import annotations

import time
from typing import Any, Literal

from pydantic import Field

from py_agent.model.base import Record
from py_agent.model.passage import Passage

#: How a turn ended, as the reader sees it.
TurnStatus = Literal["answered", "abstained", "uncited", "interrupted", "failed"]

#: Life of a stored message: a question is ``open`` until its turn is committed (``done``) or dies (``interrupted``).
MessageState = Literal["open", "done", "interrupted"]

#: Characters of the reader's words about an answer: a remark, not a letter.
MAX_FEEDBACK_CHARS = 2_000

_SHARED = {"page", "anchor", "url", "title", "path"}


def now_ms() -> int:
    """Milliseconds since the epoch, UTC: the clock of every stored record."""
    return time.time_ns() // 1_000_000


class Source(Record):
    """A checked citation: the passage was read this turn and the quote stands in it.

    ``url`` is relative to the site's root (see ``Passage.url``); the widget resolves it against the manifest's base.
    """

    passage: str
    page: str
    anchor: str
    url: str
    title: str
    path: tuple[str, ...] = ()
    quote: str = ""

    @classmethod
    def of(cls, passage: Passage, quote: str = "") -> Source:
        """The citation of ``passage``, with the words that were checked against it."""
        return cls(passage=passage.id, quote=quote, **passage.model_dump(include=_SHARED))


class StoredMessage(Record):
    """One message of a thread.

    Attributes:
        id: Unique in the store.
        thread: The thread it belongs to.
        turn: The turn that it opened (question) or closed (answer); empty for an older question without a turn.
        role: ``user`` or ``assistant``.
        content: What the reader saw, Markdown.
        model_content: What the model gets in later turns, where that differs; empty: the same as ``content``.
        state: See ``MessageState``; an answer is always ``done``.
        status: For an answer: how its turn ended. None for a question.
        sources: Checked citations of an answer.
        related: The best passages of a turn that found no answer.
        created_at: Milliseconds since the epoch, UTC.
    """

    id: str
    thread: str
    turn: str = ""
    role: Literal["user", "assistant"]
    content: str
    model_content: str = ""
    state: MessageState = "done"
    status: TurnStatus | None = None
    sources: tuple[Source, ...] = ()
    related: tuple[Source, ...] = ()
    created_at: int = Field(default_factory=now_ms)


class StoredToolCall(Record):
    """One executed tool call.

    Attributes:
        id: The call's id: unique in the store, and the spool key's last part.
        tool, arguments: What was called.
        checksum: sha256 (hex) of the canonical JSON of tool and arguments: equal calls have equal checksums.
        is_error: The tool refused or failed; ``shown`` then is the error text.
        shown: The text of the result that the model saw: the whole result, or its handle.
        spool_key: Where the whole result lies in the spool; None when ``shown`` is all of it.
        created_at: Milliseconds since the epoch, UTC.
    """

    id: str
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    checksum: str = ""
    is_error: bool = False
    shown: str = ""
    spool_key: str | None = None
    created_at: int = Field(default_factory=now_ms)


class StoredThought(Record):
    """One thought of a turn, kept for the trace and never shown to the model again in a later turn.

    Attributes:
        kind: ``plan`` or ``thinking``. Nudges are never stored.
    """

    id: str
    kind: Literal["plan", "thinking"]
    text: str
    created_at: int = Field(default_factory=now_ms)


class StoredArtifact(Record):
    """A tool result that lies in the spool.

    Attributes:
        key: Where in the spool; unique in the store.
        kind: What it is: ``text``, ``json``, ``markdown``.
        bytes, lines: Its length.
        thread, turn: Whose it is.
        created_at: Milliseconds since the epoch, UTC.
    """

    key: str
    kind: str = "text"
    bytes: int
    lines: int
    thread: str
    turn: str
    created_at: int = Field(default_factory=now_ms)


class StoredThread(Record):
    """One conversation, as lists show it.

    Attributes:
        id: Unique in the store.
        title: One line: the reader's own, or the beginning of the first question; empty before that.
        created_at, updated_at: Milliseconds since the epoch, UTC.
        messages: How many there are.
    """

    id: str
    title: str = ""
    created_at: int
    updated_at: int
    messages: int = 0


class ThreadPage(Record):
    """Part of the list of threads.

    Attributes:
        threads: The last changed first.
        next: Cursor of the rest; None: there is none.
    """

    threads: tuple[StoredThread, ...]
    next: str | None = None


class ThreadHit(Record):
    """A thread in which words were found.

    Attributes:
        thread, title: Which thread.
        message, role: The message that fits best; None if only the title fits.
        snippet: A piece of its text: runs of characters, and whether each was searched for.
        created_at: Of the message, or of the thread.
    """

    thread: str
    title: str
    message: str | None = None
    role: Literal["user", "assistant"] | None = None
    snippet: tuple[tuple[str, bool], ...] = ()
    created_at: int


class Feedback(Record):
    """What the reader thinks of an answer.

    Attributes:
        message: Id of the answer.
        verdict: ``up`` or ``down``.
        text: The reader's words, if any.
        created_at: Milliseconds since the epoch, UTC.
    """

    message: str
    verdict: Literal["up", "down"]
    text: str = Field(default="", max_length=MAX_FEEDBACK_CHARS)
    created_at: int = Field(default_factory=now_ms)


class TurnRecord(Record):
    """All that one turn commits, in ONE transaction, besides the question, which was committed when the turn began.

    Attributes:
        turn: The turn's id.
        thread: The thread's id.
        question: Id of the reader's message; its state becomes ``done``.
        added: Ids of what the reader added while the turn ran; their state becomes ``done``, too.
        answer: The assistant's message.
        tool_calls, thoughts: In the order in which they happened.
        artifacts: What the turn has left in the spool.
    """

    turn: str
    thread: str
    question: str
    added: tuple[str, ...] = ()
    answer: StoredMessage
    tool_calls: tuple[StoredToolCall, ...] = ()
    thoughts: tuple[StoredThought, ...] = ()
    artifacts: tuple[StoredArtifact, ...] = ()
