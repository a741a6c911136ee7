"""The reader's conversations: the session's requests for the list, search, deletion, export, import and feedback."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final

from py_agent.model.errors import AgentError
from py_agent.storage.base import Spool
from py_agent.storage.store import Store

Handler = Callable[[dict[str, Any]], Awaitable[Any]]

#: Hits of a search through the conversations that does not say how many it wants.
DEFAULT_HITS: Final = 20

#: Characters of a title in the name of an exported file.
_NAME_CHARS = 40


class Conversations:
    """Answers the page's requests about threads as a whole.

    Args:
        store: The opened store.
        spool: What the threads' turns have spooled.
        show: The answer to ``thread``, for a thread's id.
        answering: Ids of the threads in which a question is being answered.
    """

    def __init__(
        self,
        store: Store,
        spool: Spool,
        *,
        show: Callable[[str], Awaitable[dict[str, Any]]],
        answering: Callable[[], Collection[str]],
    ) -> None:
        self._store = store
        self._spool = spool
        self._show = show
        self._answering = answering

    def handlers(self) -> dict[str, Handler]:
        """The handlers by the name of the request."""
        return {
            "threads": self._list,
            "open_thread": self._open,
            "rename_thread": self._rename,
            "delete_thread": self._delete,
            "search_threads": self._search,
            "export_thread": self._export,
            "import_thread": self._import,
            "feedback": self._feedback,
        }

    async def _list(self, message: dict[str, Any]) -> dict[str, Any]:
        from py_agent.storage.threads import PAGE_THREADS

        cursor = message["cursor"]
        page = await self._store.list_threads(
            int(message["top"] or PAGE_THREADS), None if cursor is None else str(cursor)
        )
        return page.model_dump(mode="json")

    async def _open(self, message: dict[str, Any]) -> dict[str, Any]:
        thread = str(message["thread"])
        if await self._store.thread(thread) is None:
            raise _no_such_thread()
        return await self._show(thread)

    async def _rename(self, message: dict[str, Any]) -> dict[str, Any]:
        await self._store.rename_thread(str(message["thread"]), str(message["title"]))
        renamed = await self._store.thread(str(message["thread"]))
        if renamed is None:
            raise _no_such_thread()
        return renamed.model_dump(mode="json")

    async def _delete(self, message: dict[str, Any]) -> bool:
        from py_agent.storage.deletion import delete_all, delete_thread

        thread = message["thread"]
        busy = self._answering()
        if thread in busy or (thread is None and busy):
            # What the turn is about to write would be left behind.
            raise AgentError(
                "A question of this conversation is still being answered.",
                hint="Wait for it, or stop it first.",
                code="busy",
            )
        if thread is None:
            await delete_all(self._store, self._spool)
            return True
        return await delete_thread(self._store, self._spool, str(thread))

    async def _search(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        hits = await self._store.search_threads(str(message["query"]), int(message["top"] or DEFAULT_HITS))
        return [hit.model_dump(mode="json") for hit in hits]

    async def _export(self, message: dict[str, Any]) -> dict[str, str]:
        from py_agent.storage.export import export_thread

        thread = str(message["thread"])
        text = await export_thread(self._store, self._spool, thread)
        head = await self._store.thread(thread)
        return {"name": f"{_file_name(head.title if head else '')}.json", "text": text}

    async def _import(self, message: dict[str, Any]) -> dict[str, Any]:
        from py_agent.storage.export import import_thread

        return await self._show(await import_thread(self._store, self._spool, str(message["text"])))

    async def _feedback(self, message: dict[str, Any]) -> bool:
        from py_agent.model.record import MAX_FEEDBACK_CHARS, Feedback

        if message["verdict"] is None:
            await self._store.remove_feedback(str(message["message"]))
            return True
        if message["verdict"] not in ("up", "down"):
            raise AgentError(
                f"A verdict is up or down, not {message['verdict']!r}.", hint="Reload the page.", code="bad_call"
            )
        text = str(message["text"] or "")[:MAX_FEEDBACK_CHARS]
        await self._store.set_feedback(Feedback(message=str(message["message"]), verdict=message["verdict"], text=text))
        return True


def _file_name(title: str) -> str:
    """A file name that every system takes."""
    kept = "".join(char if char.isalnum() else "-" for char in title[:_NAME_CHARS])
    return "conversation-" + "-".join(part for part in kept.split("-") if part) if title else "conversation"


def _no_such_thread() -> AgentError:
    return AgentError("There is no such conversation.", hint="Load the list again.", code="no_such_thread")
