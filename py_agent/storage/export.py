"""A thread as one JSON file, and back. ``docs/storage.md`` describes the file for people.

A file may come from anywhere, so ``import_thread`` checks all of it before anything is written: sizes, types, and that
it names nothing outside itself.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from py_agent.model.errors import StorageError
from py_agent.model.record import (
    MAX_FEEDBACK_CHARS,
    Feedback,
    Source,
    StoredArtifact,
    StoredMessage,
    StoredThought,
    StoredToolCall,
    TurnStatus,
    now_ms,
)
from py_agent.storage.base import Spool, Statement
from py_agent.storage.keys import turn_prefix
from py_agent.storage.store import (
    Store,
    artifact_insert,
    call_insert,
    feedback_insert,
    message_insert,
    new_id,
    thought_insert,
    thread_insert,
)
from py_agent.storage.tables import PENDING_SPOOL
from py_agent.storage.threads import title_of

#: What the file says that it is.
FORMAT: Final = "py-agent-thread"
#: Version of the file format; a file of a newer one is refused.
VERSION: Final = 1

#: Bytes of one file at most: a long conversation takes some 100 kB, and the whole file is in memory when it is read.
MAX_FILE_BYTES = 50_000_000

#: Bytes of tool results in one export; larger ones than what is left of it are named without their content.
MAX_EXPORTED_BYTES = 20_000_000

#: Rows of one kind in a file: far more than anybody asks in one thread.
MAX_ROWS = 20_000

#: Characters of one text in a file.
MAX_TEXT_CHARS = 5_000_000

_Id = Annotated[str, StringConstraints(min_length=1, max_length=300)]
_Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS)]
_Short = Annotated[str, StringConstraints(max_length=4_000)]
#: Milliseconds since the epoch, up to the year 9999.
_Time = Annotated[int, Field(ge=0, le=253_402_300_799_999)]

#: Bytes or lines: what JavaScript counts exactly, and SQLite has room for.
_Count = Annotated[int, Field(ge=0, le=2**53 - 1)]


class _Part(BaseModel):
    """Strict: a file that says more or something else than it should is refused, not guessed at."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class _Source(_Part):
    passage: _Short
    page: _Short
    anchor: _Short
    url: _Short
    title: _Short
    path: Annotated[list[_Short], Field(max_length=20)] = []
    quote: _Text = ""


class _Thread(_Part):
    id: _Id
    title: _Text = ""
    created_at: _Time
    updated_at: _Time


class _Message(_Part):
    id: _Id
    turn: _Id | Literal[""] = ""
    role: Literal["user", "assistant"]
    content: _Text
    model_content: _Text = ""
    state: Literal["open", "done", "interrupted"]
    status: TurnStatus | None = None
    sources: Annotated[list[_Source], Field(max_length=100)] = []
    related: Annotated[list[_Source], Field(max_length=100)] = []
    created_at: _Time


class _Call(_Part):
    id: _Id
    turn: _Id
    tool: _Short
    arguments: dict[str, Any]
    checksum: _Short
    is_error: bool
    shown: _Text
    spool_key: _Short | None
    created_at: _Time


class _Thought(_Part):
    id: _Id
    turn: _Id
    kind: Literal["plan", "thinking"]
    text: _Text
    created_at: _Time


class _Artifact(_Part):
    key: _Short
    turn: _Id
    kind: Annotated[str, StringConstraints(pattern="^[a-z0-9_]{1,40}$")]
    bytes: _Count
    lines: _Count
    created_at: _Time
    data: str | None


class _Feedback(_Part):
    message: _Id
    verdict: Literal["up", "down"]
    text: Annotated[str, StringConstraints(max_length=MAX_FEEDBACK_CHARS)] = ""
    created_at: _Time


class ThreadFile(_Part):
    """The file. Rows are in the order in which they were written.

    Attributes:
        format, version: ``FORMAT`` and ``VERSION``.
        exported_at: Milliseconds since the epoch, UTC.
        thread, messages, tool_calls, thoughts, feedback: As in the store.
        artifacts: What lies in the spool; ``data`` is base64, or null where it was too large or is gone.
    """

    format: Literal["py-agent-thread"]
    version: Literal[1]
    exported_at: _Time
    thread: _Thread
    messages: Annotated[list[_Message], Field(max_length=MAX_ROWS)]
    tool_calls: Annotated[list[_Call], Field(max_length=MAX_ROWS)] = []
    thoughts: Annotated[list[_Thought], Field(max_length=MAX_ROWS)] = []
    feedback: Annotated[list[_Feedback], Field(max_length=MAX_ROWS)] = []
    artifacts: Annotated[list[_Artifact], Field(max_length=MAX_ROWS)] = []


async def export_thread(store: Store, spool: Spool, thread: str) -> str:
    """The whole thread as the text of a JSON file: what was shown, what the model saw, and its tools' results.

    Raises:
        StorageError: ``no_such_thread``; else as ``Connection.execute``.
    """
    head = await store.thread(thread)
    if head is None:
        raise StorageError("There is no such conversation.", hint="Load the list again.", code="no_such_thread")
    turns = await store.turns_of_rows(thread)
    file = ThreadFile(
        format=FORMAT,
        version=VERSION,
        exported_at=now_ms(),
        thread=_Thread(**head.model_dump(exclude={"messages"})),
        messages=[
            _Message(**message.model_dump(mode="json", exclude={"thread"})) for message in await store.history(thread)
        ],
        tool_calls=[
            _Call(turn=turns[call.id], **call.model_dump(mode="json")) for call in await store.tool_calls(thread)
        ],
        thoughts=[_Thought(turn=turns[thought.id], **thought.model_dump()) for thought in await store.thoughts(thread)],
        feedback=[_Feedback(**given.model_dump()) for given in (await store.feedback(thread)).values()],
        artifacts=await _artifacts(store, spool, thread, turns),
    )
    return file.model_dump_json(indent=1)


async def import_thread(store: Store, spool: Spool, text: str) -> str:
    """Adds the thread of a file. Ids that are taken are replaced by new ones, all of them together.

    Args:
        text: What ``export_thread`` gave, or what somebody says that it gave.

    Returns:
        The thread's id.

    Raises:
        StorageError: ``bad_file``: too large, not such a file, or one that contradicts itself; nothing was written.
            Else as ``Connection.transaction``; nothing is left then.
    """
    if len(text) > MAX_FILE_BYTES:
        raise _bad(f"it is larger than {MAX_FILE_BYTES // 1_000_000} MB")
    try:
        file = ThreadFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise _bad(f"{place}: {first['msg']}") from error
    except UnicodeEncodeError as error:
        raise _bad("it holds characters that no text has") from error
    _check(file)
    await asyncio.sleep(0)
    fresh = _Ids(changed=await store.any_taken(_ids(file), _turns(file)))
    thread = fresh(file.thread.id)
    data = {artifact.key: _bytes(artifact) for artifact in file.artifacts if artifact.data is not None}
    prefixes = [turn_prefix(fresh(turn)) for turn in _turns(file)]
    # A kill between here and the commit leaves these notes, and the next start deletes what was spooled by then.
    await store.note_pending([f"{PENDING_SPOOL}{prefix}" for prefix in prefixes])
    try:
        for artifact in file.artifacts:
            if artifact.key in data:
                await spool.write(fresh.key(artifact.key, artifact.turn), data[artifact.key])
        await store.commit_import(_statements(file, fresh, thread), [f"{PENDING_SPOOL}{prefix}" for prefix in prefixes])
    except BaseException:
        for prefix in prefixes:
            await spool.delete(prefix)
        await store.settle([f"{PENDING_SPOOL}{prefix}" for prefix in prefixes])
        raise
    return thread


class _Ids:
    """New names for old ones, the same for the same; or the old ones themselves."""

    def __init__(self, *, changed: bool) -> None:
        self._changed = changed
        self._new: dict[str, str] = {}

    def __call__(self, old: str) -> str:
        return self._new.setdefault(old, new_id()) if self._changed and old else old

    def key(self, old: str, turn: str) -> str:
        """The spool key of a turn whose id may be new."""
        return turn_prefix(self(turn)) + old.removeprefix(turn_prefix(turn))


async def _artifacts(store: Store, spool: Spool, thread: str, turns: dict[str, str]) -> list[_Artifact]:
    left = MAX_EXPORTED_BYTES
    noted = {artifact.key: artifact for artifact in await store.artifacts(thread)}
    for call in await store.tool_calls(thread):
        turn = turns[call.id]
        # The first versions noted a result with its call only.
        if call.spool_key and call.spool_key not in noted and call.spool_key.startswith(turn_prefix(turn)):
            try:
                size = await spool.size(call.spool_key)
            except KeyError:
                continue
            noted[call.spool_key] = StoredArtifact(
                key=call.spool_key, bytes=size, lines=0, thread=thread, turn=turn, created_at=call.created_at
            )
    files = []
    for artifact in noted.values():
        data, size = None, artifact.bytes
        if artifact.bytes <= left:
            try:
                content = await spool.read(artifact.key)
            except KeyError:  # it is gone, and the file says so
                content = None
            if content is not None:
                size = len(content)
                left -= size
                data = base64.b64encode(content).decode()
        files.append(_Artifact(data=data, bytes=size, **artifact.model_dump(exclude={"thread", "bytes"})))
    return files


def _ids(file: ThreadFile) -> list[str]:
    rows: Iterable[_Message | _Call | _Thought] = (*file.messages, *file.tool_calls, *file.thoughts)
    return [file.thread.id, *(row.id for row in rows)]


def _turns(file: ThreadFile) -> list[str]:
    rows: Iterable[_Message | _Call | _Thought | _Artifact] = (
        *file.messages,
        *file.tool_calls,
        *file.thoughts,
        *file.artifacts,
    )
    return list(dict.fromkeys(row.turn for row in rows if row.turn))


def _check(file: ThreadFile) -> None:
    """What types do not say: every id once, and nothing that points out of the file."""
    ids = _ids(file)
    if len(set(ids)) != len(ids):
        raise _bad("two of its rows have the same id")
    keys = {artifact.key for artifact in file.artifacts}
    if len(keys) != len(file.artifacts):
        raise _bad("two of its results have the same key")
    for artifact in file.artifacts:
        if not artifact.key.startswith(turn_prefix(artifact.turn)):
            raise _bad(f"the result {artifact.key!r} does not belong to its turn")
    answers = {message.id for message in file.messages if message.role == "assistant"}
    judged = [given.message for given in file.feedback]
    if not answers.issuperset(judged) or len(set(judged)) != len(judged):
        raise _bad("it judges what is no answer of its own, or judges twice")


def _bytes(artifact: _Artifact) -> bytes:
    try:
        data = base64.b64decode(artifact.data or "", validate=True)
    except ValueError as error:
        raise _bad(f"the result {artifact.key!r} is no base64") from error
    if len(data) != artifact.bytes:
        raise _bad(f"the result {artifact.key!r} has {len(data)} bytes and says {artifact.bytes}")
    return data


def _statements(file: ThreadFile, fresh: _Ids, thread: str) -> list[Statement]:
    keys = {artifact.key: fresh.key(artifact.key, artifact.turn) for artifact in file.artifacts}
    head = file.thread
    statements = [thread_insert(thread, title_of(head.title), head.created_at, head.updated_at)]
    for message in file.messages:
        plain = message.model_dump(exclude={"id", "turn", "state", "sources", "related"})
        state = "interrupted" if message.state == "open" else message.state  # nobody is answering it
        stored = StoredMessage(
            id=fresh(message.id),
            thread=thread,
            turn=fresh(message.turn),
            state=state,
            sources=tuple(Source(**source.model_dump()) for source in message.sources),
            related=tuple(Source(**source.model_dump()) for source in message.related),
            **plain,
        )
        statements.append(message_insert(stored))
    for call in file.tool_calls:
        kept = call.model_dump(exclude={"id", "turn", "spool_key"})
        key = keys.get(call.spool_key or "")
        stored_call = StoredToolCall(id=fresh(call.id), spool_key=key, **kept)
        statements.append(call_insert(thread, fresh(call.turn), stored_call))
    for thought in file.thoughts:
        kept = thought.model_dump(exclude={"id", "turn"})
        statements.append(thought_insert(thread, fresh(thought.turn), StoredThought(id=fresh(thought.id), **kept)))
    for artifact in file.artifacts:
        if artifact.data is not None:
            kept = artifact.model_dump(exclude={"key", "turn", "data"})
            noted = StoredArtifact(key=keys[artifact.key], thread=thread, turn=fresh(artifact.turn), **kept)
            statements.append(artifact_insert(noted))
    for given in file.feedback:
        kept = given.model_dump(exclude={"message"})
        statements.append(feedback_insert(Feedback(message=fresh(given.message), **kept)))
    return statements


def _bad(why: str) -> StorageError:
    return StorageError(
        f"The file is no conversation that can be read: {why}.",
        hint="Choose a file that was exported from here, unchanged.",
        code="bad_file",
    )
