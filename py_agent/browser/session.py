"""The session: answers what the page asks, over an agent, an index and a store. Knows nothing of JavaScript."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Protocol
from urllib.parse import unquote, urljoin, urlsplit

from py_agent.browser.conversations import Conversations
from py_agent.browser.protocol import SESSION_REQUESTS, missing_fields
from py_agent.model.errors import AgentError
from py_agent.model.record import StoredMessage
from py_agent.runner.events import Event, Navigate, TurnEnd, TurnStart
from py_agent.search.base import Searcher
from py_agent.storage.base import Spool
from py_agent.storage.store import Store

#: Hits of a search that does not say how many it wants.
DEFAULT_TOP: Final = 5

#: Hits of one search at most: the widget shows a list, not a dump of the index.
MAX_TOP: Final = 20

Send = Callable[[dict[str, Any]], None]


class TurnAgent(Protocol):
    """The part of ``DocsAgent`` that a session needs."""

    async def run_turn(
        self,
        thread: str,
        text: str,
        *,
        emit: Callable[[Event], None],
        page: str | None = None,
        interactive: bool = False,
    ) -> TurnEnd:
        """Runs one turn; cancel the task to stop it."""
        ...

    def resolve_gate(self, turn: str, gate: str, value: Any) -> None:
        """The reader's answer to what the turn asks."""
        ...

    def expire_gate(self, turn: str, gate: str) -> None:
        """The reader does not want to answer."""
        ...

    async def add(self, turn: str, text: str) -> str:
        """More words of the reader for the turn; returns the id of the stored message."""
        ...


class Session:
    """Handles the page's requests; each gets exactly one ``result`` or ``error``.

    Args:
        agent: Runs turns.
        search: The opened index.
        store: The opened store.
        spool: What the turns have spooled.
        send: Sends one message to the page.
        root: Absolute URL of the site's root, where ``Passage.url`` starts.
        kept: Whether threads outlive the page.
        notice: What the reader must know about that; empty if nothing.
    """

    def __init__(
        self,
        agent: TurnAgent,
        search: Searcher,
        store: Store,
        spool: Spool,
        *,
        send: Send,
        root: str,
        kept: bool,
        notice: str,
    ) -> None:
        self._agent = agent
        self._search = search
        self._store = store
        self._send = send
        self._root = root
        self._kept = kept
        self._notice = notice
        self._asks: dict[str, asyncio.Task[None]] = {}
        self._asked_in: dict[str, str] = {}  # the thread of each ask that runs
        # The turn of each ask: who adds words while the question is still on its way waits for it here.
        self._turns: dict[str, asyncio.Future[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        conversations = Conversations(store, spool, show=self._show, answering=self._asked_in.values)
        self._handlers: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {
            "ask": self._ask,
            "stop": self._stop,
            "decide": self._decide,
            "add": self._add,
            "search": self._search_passages,
            "thread": self._thread,
            "new_thread": self._new_thread,
            **conversations.handlers(),
        }

    def receive(self, message: dict[str, Any]) -> None:
        """Starts to handle one message of the page; returns at once."""
        call = str(message.get("id"))
        asking = message.get("type") == "ask"
        if asking and any(not task.cancelling() for task in self._asks.values()):
            error = AgentError(
                "Another question is still being answered.", hint="Wait for it, or stop it first.", code="busy"
            )
            self._send({"type": "error", "id": call, "error": error.to_json()})
            return
        # Whoever stops and asks again at once must not be refused: the new turn waits for the end of the old one.
        stopping = tuple(self._asks.values()) if asking else ()
        task = asyncio.get_running_loop().create_task(self._answer(message, stopping))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if asking:
            self._asks[call] = task
            self._turns[call] = asyncio.get_running_loop().create_future()
            task.add_done_callback(lambda _: self._forget(call))  # also of a task that never ran

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs ``work`` beside the requests, until it ends or the session is closed."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stops what runs."""
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, message: dict[str, Any], first: tuple[asyncio.Task[None], ...]) -> None:
        """Sends the one answer; an ask has ended by then, so that the page may send the next at once."""
        call = message.get("id")
        stopped = False
        try:
            if first:
                await asyncio.wait(first)
            answer = {"type": "result", "id": call, "value": await self._value(message)}
        except AgentError as error:
            answer = {"type": "error", "id": call, "error": error.to_json()}
        except asyncio.CancelledError:
            stopped = True
            stop = AgentError("The question was stopped.", code="stopped")
            answer = {"type": "error", "id": call, "error": stop.to_json()}
        except Exception as error:
            # A programming error: the reader must not wait for ever, and the text is what a report needs.
            failure = AgentError(
                f"The assistant failed: {type(error).__name__}: {error}.",
                hint="Ask again. If it happens again, report it with this text.",
                code="internal",
            )
            answer = {"type": "error", "id": call, "error": failure.to_json()}
        self._forget(str(call))
        self._send(answer)
        if stopped:
            raise asyncio.CancelledError

    def _forget(self, call: str) -> None:
        """An ask has ended, or what ended is none."""
        self._asks.pop(call, None)
        turn = self._turns.pop(call, None)
        if turn is not None:
            turn.cancel()  # who still waits for its turn is told that there is none any more

    async def _value(self, message: dict[str, Any]) -> Any:
        missing = missing_fields(SESSION_REQUESTS, message)
        handler = self._handlers.get(str(message.get("type")))
        if handler is None or missing:
            raise AgentError(
                f"The page sent a request that the session does not understand: {message.get('type')!r}"
                + (f" without {', '.join(missing)}" if missing else "")
                + ".",
                hint="Reload the page: its parts may be of two builds.",
                code="bad_call",
            )
        return await handler(message)

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        call = str(message["id"])
        thread = message["thread"] or await self._current_thread()
        self._asked_in[call] = thread
        try:
            end = await self._agent.run_turn(
                thread,
                str(message["text"]),
                emit=lambda event: self._emit(call, event),
                page=None if message["page"] is None else path_in(self._root, message["page"]),
                interactive=True,
            )
        finally:
            del self._asked_in[call]
        return {
            "answer": end.answer,
            "sources": self._linked([source.model_dump(mode="json") for source in end.sources]),
            "related": self._linked([source.model_dump(mode="json") for source in end.related]),
            "status": end.status,
        }

    async def _stop(self, message: dict[str, Any]) -> bool:
        """Cancels an ask; whether it still ran."""
        task = self._asks.get(str(message["ask"]))
        return task.cancel() if task is not None else False

    async def _decide(self, message: dict[str, Any]) -> bool:
        """Hands on what the reader decided. An open gate has a turn that runs, so there is nothing to wait for."""
        turn = self._turns.get(str(message["ask"]))
        if turn is None or not turn.done():
            raise _over()
        if message["value"] is None:
            self._agent.expire_gate(turn.result(), str(message["gate"]))
        else:
            self._agent.resolve_gate(turn.result(), str(message["gate"]), message["value"])
        return True

    async def _add(self, message: dict[str, Any]) -> str:
        text = str(message["text"]).strip()
        if not text:
            raise AgentError("There are no words to add.", hint="Write a few.", code="empty_question")
        turn = self._turns.get(str(message["ask"]))
        if turn is None:
            raise _over()
        await asyncio.wait([turn])
        if turn.cancelled():
            raise _over()
        return await self._agent.add(turn.result(), text)

    async def _search_passages(self, message: dict[str, Any]) -> dict[str, Any]:
        top = min(int(message["top"] or DEFAULT_TOP), MAX_TOP)
        found = (await self._search.search(str(message["query"]), top)).model_dump(mode="json")
        self._linked([hit["passage"] for hit in found["hits"]])
        return found

    async def _thread(self, _: dict[str, Any]) -> dict[str, Any]:
        return await self._show(await self._current_thread())

    async def _new_thread(self, _: dict[str, Any]) -> dict[str, Any]:
        return await self._show(await self._store.new_thread())

    async def _current_thread(self) -> str:
        return await self._store.latest_thread() or await self._store.new_thread()

    async def _show(self, thread: str) -> dict[str, Any]:
        given = await self._store.feedback(thread)
        messages = [self._message(message) for message in await self._store.history(thread)]
        for message in messages:
            verdict = given.get(message["id"])
            message["feedback"] = None if verdict is None else verdict.model_dump(include={"verdict", "text"})
        return {"thread": thread, "messages": messages, "kept": self._kept, "notice": self._notice}

    def _message(self, message: StoredMessage) -> dict[str, Any]:
        shown = message.model_dump(mode="json", exclude={"model_content"})
        self._linked(shown["sources"])
        self._linked(shown["related"])
        return shown

    def _emit(self, call: str, event: Event) -> None:
        shown = event.model_dump(mode="json")
        if isinstance(event, TurnStart):
            self._turns[call].set_result(event.turn)
        if isinstance(event, Navigate):
            self._linked([shown])
        if isinstance(event, TurnEnd):
            self._linked(shown["sources"])
            self._linked(shown["related"])
        self._send({"type": "event", "id": call, "event": shown})

    def _linked(self, places: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Adds the absolute ``link`` to each place that has a ``url``."""
        for place in places:
            place["link"] = link_to(self._root, place["url"])
        return places


def _over() -> AgentError:
    return AgentError("This answer is finished.", hint="Ask it as a question of its own.", code="turn_over")


def path_in(root: str, url: str) -> str | None:
    """Path of an address below the site's root, without what only the browser needs; None for one elsewhere."""
    site, here = urlsplit(urljoin(root, ".")), urlsplit(url)
    if (site.scheme, site.netloc) != (here.scheme, here.netloc) or not here.path.startswith(site.path):
        return None
    return unquote(here.path[len(site.path) :])


def link_to(root: str, url: str) -> str:
    """Absolute address of a page of the site. An address that leaves the site (a damaged index) leads to its root."""
    link = urljoin(root, url)
    site, target = urlsplit(root), urlsplit(link)
    return link if (site.scheme, site.netloc) == (target.scheme, target.netloc) else root
