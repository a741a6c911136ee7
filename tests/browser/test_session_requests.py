"""What the session answers to the page, with an agent of the test and the real store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from py_agent.browser.session import MAX_TOP, Session, link_to
from py_agent.model.passage import Passage
from py_agent.model.record import Source, StoredMessage, TurnRecord
from py_agent.runner.events import AnswerDelta, Event, TurnEnd
from py_agent.search.base import Hit, SearchResult
from py_agent.storage.spool import MemorySpool
from py_agent.storage.sqlite import SqliteConnection
from py_agent.storage.store import Store

ROOT = "https://docs.example/lantern/"
PASSAGE = Passage(id="p1", page="a.html", anchor="x", url="a.html#x", title="A", text="Text.")


class FakeSearch:
    top = 0

    async def search(self, query: str, top: int = 5) -> SearchResult:
        self.top = top
        return SearchResult(query=query, hits=(Hit(passage=PASSAGE, score=1.0),), missing=("zebra",))

    def passage(self, passage_id: str) -> Passage:
        return PASSAGE

    def page(self, page: str) -> tuple[Passage, ...]:
        return (PASSAGE,)


class FakeAgent:
    """Answers "Yes" with one source; waits for ``go`` first, fails with ``failure`` if one is set."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.go = asyncio.Event()
        self.go.set()
        self.failure: Exception | None = None
        self.asked: list[tuple[str, str, str | None]] = []

    async def run_turn(
        self,
        thread: str,
        text: str,
        *,
        emit: Callable[[Event], None],
        page: str | None = None,
        interactive: bool = False,
    ) -> TurnEnd:
        self.asked.append((thread, text, page))
        question = await self.store.open_question(thread, text, "turn")
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            await self.store.mark_interrupted(question)
            raise
        if self.failure:
            raise self.failure
        emit(AnswerDelta(text="Yes"))
        sources = (Source.of(PASSAGE, "Text."),)
        answer = StoredMessage(
            id=question + "a", thread=thread, role="assistant", content="Yes", status="answered", sources=sources
        )
        await self.store.commit_turn(TurnRecord(turn="t", thread=thread, question=question, answer=answer))
        end = TurnEnd(turn="t", thread=thread, message=answer.id, status="answered", answer="Yes", sources=sources)
        emit(end)
        return end

    def resolve_gate(self, turn: str, gate: str, value: Any) -> None:
        raise NotImplementedError  # see test_session_reader.py

    def expire_gate(self, turn: str, gate: str) -> None:
        raise NotImplementedError

    async def add(self, turn: str, text: str) -> str:
        raise NotImplementedError


class Page:
    """The page's end: sends requests, keeps what comes back."""

    def __init__(self, session: Session, sent: list[dict[str, Any]]) -> None:
        self.session = session
        self.sent = sent

    async def answer(self, id: str) -> dict[str, Any]:
        async with asyncio.timeout(5):
            while True:
                for message in self.sent:
                    if message["id"] == id and message["type"] != "event":
                        return message
                await asyncio.sleep(0)

    async def call(self, type: str, id: str = "1", **fields: Any) -> dict[str, Any]:
        self.session.receive({"type": type, "id": id, **fields})
        return await self.answer(id)


@pytest.fixture
async def store() -> Store:
    store = Store(SqliteConnection())
    await store.open()
    return store


@pytest.fixture
async def agent(store: Store) -> FakeAgent:
    return FakeAgent(store)


@pytest.fixture
async def page(store: Store, agent: FakeAgent) -> Page:
    sent: list[dict[str, Any]] = []
    session = Session(agent, FakeSearch(), store, MemorySpool(), send=sent.append, root=ROOT, kept=True, notice="")
    return Page(session, sent)


async def test_an_answer_has_sources_with_absolute_links(page: Page) -> None:
    answer = await page.call("ask", text="Does it?", thread=None, page=ROOT)
    assert answer["value"]["answer"] == "Yes"
    assert answer["value"]["status"] == "answered"
    assert [source["link"] for source in answer["value"]["sources"]] == [ROOT + "a.html#x"]
    events = [message["event"] for message in page.sent if message["type"] == "event"]
    assert [event["type"] for event in events] == ["answer_delta", "turn_end"]
    assert events[-1]["sources"][0]["link"] == ROOT + "a.html#x"


async def test_a_question_without_a_thread_goes_to_the_latest(page: Page, agent: FakeAgent, store: Store) -> None:
    await store.new_thread()
    latest = await store.new_thread()
    await page.call("ask", text="Does it?", thread=None, page=None)
    assert agent.asked == [(latest, "Does it?", None)]


async def test_the_thread_comes_back_with_links_and_without_what_the_model_gets(page: Page) -> None:
    await page.call("ask", "1", text="Does it?", thread=None, page=None)
    thread = (await page.call("thread", "2"))["value"]
    assert [message["role"] for message in thread["messages"]] == ["user", "assistant"]
    assert thread["messages"][1]["sources"][0]["link"] == ROOT + "a.html#x"
    assert "model_content" not in thread["messages"][1]
    assert (thread["kept"], thread["notice"]) == (True, "")


async def test_a_new_thread_is_empty_and_the_latest_from_then_on(page: Page) -> None:
    await page.call("ask", "1", text="Does it?", thread=None, page=None)
    fresh = (await page.call("new_thread", "2"))["value"]
    assert fresh["messages"] == []
    assert (await page.call("thread", "3"))["value"]["thread"] == fresh["thread"]


async def test_stop_ends_the_question_and_marks_it_interrupted(page: Page, agent: FakeAgent) -> None:
    agent.go.clear()
    page.session.receive({"type": "ask", "id": "1", "text": "Does it?", "thread": None, "page": None})
    while not agent.asked:
        await asyncio.sleep(0)
    assert (await page.call("stop", "2", ask="1"))["value"] is True
    assert (await page.answer("1"))["error"]["code"] == "stopped"
    thread = (await page.call("thread", "3"))["value"]
    assert [message["state"] for message in thread["messages"]] == ["interrupted"]
    assert (await page.call("stop", "4", ask="1"))["value"] is False


async def test_a_second_question_is_refused_while_one_is_answered(page: Page, agent: FakeAgent) -> None:
    agent.go.clear()
    page.session.receive({"type": "ask", "id": "1", "text": "One?", "thread": None, "page": None})
    assert (await page.call("ask", "2", text="Two?", thread=None, page=None))["error"]["code"] == "busy"
    agent.go.set()
    assert (await page.answer("1"))["value"]["answer"] == "Yes"
    assert (await page.call("ask", "3", text="Three?", thread=None, page=None))["type"] == "result"


async def test_stop_and_ask_at_once_answers_the_second_question(page: Page, agent: FakeAgent) -> None:
    agent.go.clear()
    page.session.receive({"type": "ask", "id": "1", "text": "One?", "thread": None, "page": None})
    while not agent.asked:
        await asyncio.sleep(0)
    page.session.receive({"type": "stop", "id": "2", "ask": "1"})
    await page.answer("2")
    page.session.receive({"type": "ask", "id": "3", "text": "Two?", "thread": None, "page": None})
    agent.go.set()
    assert (await page.answer("1"))["error"]["code"] == "stopped"
    assert (await page.answer("3"))["value"]["answer"] == "Yes"
    states = [message["state"] for message in (await page.call("thread", "4"))["value"]["messages"]]
    assert states == ["interrupted", "done", "done"]


async def test_search_is_answered_while_a_question_runs(page: Page, agent: FakeAgent) -> None:
    agent.go.clear()
    page.session.receive({"type": "ask", "id": "1", "text": "One?", "thread": None, "page": None})
    found = (await page.call("search", "2", query="lamp", top=3))["value"]
    assert [hit["passage"]["link"] for hit in found["hits"]] == [ROOT + "a.html#x"]
    assert found["missing"] == ["zebra"]
    await page.session.close()
    assert (await page.answer("1"))["error"]["code"] == "stopped"


async def test_a_search_for_everything_is_cut(page: Page) -> None:
    await page.call("search", query="lamp", top=10_000)
    search = page.session._search
    assert isinstance(search, FakeSearch)
    assert search.top == MAX_TOP


async def test_a_bug_in_a_turn_ends_the_question_with_its_text(page: Page, agent: FakeAgent) -> None:
    agent.failure = ZeroDivisionError("division by zero")
    error = (await page.call("ask", text="Does it?", thread=None, page=None))["error"]
    assert error["code"] == "internal"
    assert "division by zero" in error["message"]


@pytest.mark.parametrize("message", [{"type": "nonsense"}, {"type": "ask", "text": "no thread"}])
async def test_a_request_that_is_not_understood_is_refused(page: Page, message: dict[str, Any]) -> None:
    page.session.receive({**message, "id": "1"})
    assert (await page.answer("1"))["error"]["code"] == "bad_call"


def test_a_link_never_leaves_the_site() -> None:
    assert link_to(ROOT, "b/c.html#d") == ROOT + "b/c.html#d"
    assert link_to(ROOT, "c.html#:~:text=a%20b") == ROOT + "c.html#:~:text=a%20b"
    for foreign in ("javascript:alert(1)", "https://evil.example/", "//evil.example/x", "data:text/html,x"):
        assert link_to(ROOT, foreign) == ROOT
