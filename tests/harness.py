"""A small world for turns: an index of a few passages, a store in memory, and one call to run a turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from py_agent.agent import AgentConfig, DocsAgent
from py_agent.model.clock import utc_now
from py_agent.model.passage import Passage
from py_agent.model.prompt import CallSpec
from py_agent.model.record import StoredMessage, TurnRecord
from py_agent.prompt.dialects.gemma4 import render_call
from py_agent.runner.events import TurnEnd
from py_agent.search.base import Hit, Page, SearchResult
from py_agent.storage.spool import MemorySpool


def passage(
    id: str, text: str, *, page: str = "guide.html", title: str = "Guide", path: tuple[str, ...] = ()
) -> Passage:
    anchor = path[-1].lower().replace(" ", "-") if path else ""
    return Passage(id=id, page=page, anchor=anchor, url=f"{page}#{anchor}", title=title, path=path, text=text)


class WordSearch:
    """Ranks passages by how many words of the query they hold."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = {item.id: item for item in passages}
        self.queries: list[str] = []

    async def search(self, query: str, top: int = 5) -> SearchResult:
        self.queries.append(query)
        words = [word for word in re.findall(r"\w+", query.lower()) if len(word) > 3 or word.isdigit()]
        scored = []
        for item in self.passages.values():
            text = " ".join([item.title, *item.path, item.text]).lower()
            score = sum(word in text for word in words)
            if score:
                scored.append(Hit(passage=item, score=score))
        hits = tuple(sorted(scored, key=lambda hit: -hit.score)[:top])
        joined = " ".join(" ".join([hit.passage.title, *hit.passage.path, hit.passage.text]) for hit in hits).lower()
        return SearchResult(query=query, hits=hits, missing=tuple(word for word in words if word not in joined))

    async def passage(self, passage_id: str) -> Passage:
        return self.passages[passage_id]

    async def pages(self) -> list[Page]:
        return [
            Page(page=name, title=title) for name, title in {p.page: p.title for p in self.passages.values()}.items()
        ]

    async def page(self, page: str) -> tuple[Passage, ...]:
        return tuple(item for item in self.passages.values() if item.page == page)


class ListStore:
    """A TurnStore in lists."""

    def __init__(self) -> None:
        self.messages: list[StoredMessage] = []
        self.turns: list[TurnRecord] = []

    async def open_question(self, thread: str, text: str, turn: str) -> str:
        message = StoredMessage(
            id=f"q{len(self.messages)}", thread=thread, turn=turn, role="user", content=text, state="open"
        )
        self.messages.append(message)
        return message.id

    async def commit_turn(self, turn: TurnRecord) -> None:
        for message in (turn.question, *turn.added):
            self._set(message, "done")
        self.messages.append(turn.answer)
        self.turns.append(turn)

    async def mark_interrupted(self, message_id: str) -> None:
        self._set(message_id, "interrupted")

    async def history(self, thread: str) -> list[StoredMessage]:
        return [message for message in self.messages if message.thread == thread]

    def _set(self, message_id: str, state: Any) -> None:
        self.messages = [
            message.model_copy(update={"state": state}) if message.id == message_id else message
            for message in self.messages
        ]


class World:
    """An agent over ``passages`` and everything that a test may want to look at afterwards."""

    def __init__(
        self,
        engine: Any,
        passages: Sequence[Passage] = (),
        *,
        tools: Any = None,
        pipelines: Any = None,
        tracing: Any = None,
        clock: Any = utc_now,
        memories: Any = None,
        wishes: Any = None,
        **config: Any,
    ) -> None:
        self.engine = engine
        self.search = WordSearch(passages)
        self.store = ListStore()
        self.spool = MemorySpool()
        self.events: list[Any] = []
        self.agent = DocsAgent(
            engine,
            self.search,
            self.store,
            self.spool,
            AgentConfig(**config),
            tools=tools,
            pipelines=pipelines,
            tracing=tracing(self.spool) if tracing is not None else None,
            clock=clock,
            memories=memories,
            instructions=wishes,
        )

    async def ask(self, text: str, thread: str = "t", page: str | None = None, *, interactive: bool = False) -> TurnEnd:
        take = self.events.append
        return await self.agent.run_turn(thread, text, emit=take, observe=take, page=page, interactive=interactive)

    def of(self, type: str) -> list[Any]:
        return [event for event in self.events if event.type == type]

    @property
    def prompts(self) -> list[str]:
        return [event.prompt for event in self.of("request_start")]


def call(tool: str, /, **arguments: Any) -> str:
    return render_call(CallSpec(name=tool, arguments=arguments))


PLAN = call("make_plan", answer_kind="doc_cited", tools_to_use=["search_docs", "provide_answer"], answer_scope="brief")
