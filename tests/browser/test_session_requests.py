"""What the session answers to the page, with an agent of the test and the real store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from py_agent.browser.session import MAX_TOP, Session, link_to, path_in
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


async def test_threads_are_listed_opened_renamed_and_deleted(page: Page) -> None:
    await page.call("ask", "1", text="Does it?", thread=None, page=None)
    first = (await page.call("thread", "2"))["value"]["thread"]
    await page.call("new_thread", "3")
    listed = (await page.call("threads", "4", top=1, cursor=None))["value"]
    assert [thread["title"] for thread in listed["threads"]] == [""]
    listed = (await page.call("threads", "5", top=1, cursor=listed["next"]))["value"]
    assert [(thread["id"], thread["title"]) for thread in listed["threads"]] == [(first, "Does it?")]
    assert listed["next"] is None
    opened = (await page.call("open_thread", "6", thread=first))["value"]
    assert [message["role"] for message in opened["messages"]] == ["user", "assistant"]
    assert opened["messages"][1]["sources"][0]["link"] == ROOT + "a.html#x"
    assert (await page.call("rename_thread", "7", thread=first, title="Lamps"))["value"]["title"] == "Lamps"
    assert (await page.call("delete_thread", "8", thread=first))["value"] is True
    assert (await page.call("delete_thread", "9", thread=first))["value"] is False
    for number, request in enumerate(({"type": "open_thread"}, {"type": "rename_thread", "title": "x"}), 10):
        error = (await page.call(**request, id=str(number), thread=first))["error"]
        assert error["code"] == "no_such_thread"
    assert (await page.call("threads", "12", top=1, cursor="x"))["error"]["code"] == "bad_cursor"


async def test_a_conversation_that_is_being_answered_is_not_deleted(page: Page, agent: FakeAgent, store: Store) -> None:
    other, asked = await store.new_thread(), await store.new_thread()
    agent.go.clear()
    page.session.receive({"type": "ask", "id": "1", "text": "One?", "thread": None, "page": None})
    while not agent.asked:
        await asyncio.sleep(0)
    for number, thread in enumerate((asked, None), 2):
        assert (await page.call("delete_thread", str(number), thread=thread))["error"]["code"] == "busy"
    assert (await page.call("delete_thread", "4", thread=other))["value"] is True
    agent.go.set()
    await page.answer("1")
    assert (await page.call("delete_thread", "5", thread=None))["value"] is True
    assert (await page.call("threads", "6", top=None, cursor=None))["value"] == {"threads": [], "next": None}


async def test_conversations_are_searched_and_travel_as_files(page: Page) -> None:
    await page.call("ask", "1", text="Does the lamp?", thread=None, page=None)
    thread = (await page.call("thread", "2"))["value"]["thread"]
    (hit,) = (await page.call("search_threads", "3", query="LAMP", top=None))["value"]
    assert (hit["thread"], hit["role"]) == (thread, "user")
    assert ["lamp", True] in hit["snippet"]
    exported = (await page.call("export_thread", "4", thread=thread))["value"]
    assert exported["name"] == "conversation-Does-the-lamp.json"
    imported = (await page.call("import_thread", "5", text=exported["text"]))["value"]
    assert imported["thread"] != thread
    assert [message["content"] for message in imported["messages"]] == ["Does the lamp?", "Yes"]
    assert (await page.call("thread", "6"))["value"]["thread"] == imported["thread"]
    error = (await page.call("import_thread", "7", text="<html>"))["error"]
    assert (error["code"], bool(error["hint"])) == ("bad_file", True)


async def test_a_verdict_is_shown_with_its_answer_until_it_is_taken_back(page: Page) -> None:
    await page.call("ask", "1", text="Does it?", thread=None, page=None)
    question, answer = (await page.call("thread", "2"))["value"]["messages"]
    assert answer["feedback"] is None
    await page.call("feedback", "3", message=answer["id"], verdict="down", text="No.")
    shown = (await page.call("thread", "4"))["value"]["messages"]
    assert [message["feedback"] for message in shown] == [None, {"verdict": "down", "text": "No."}]
    await page.call("feedback", "5", message=answer["id"], verdict=None, text=None)
    assert (await page.call("thread", "6"))["value"]["messages"][1]["feedback"] is None
    error = (await page.call("feedback", "7", message=question["id"], verdict="up", text=None))["error"]
    assert error["code"] == "no_such_message"
    assert (await page.call("feedback", "8", message=answer["id"], verdict="meh", text=None))["error"][
        "code"
    ] == "bad_call"


@pytest.mark.parametrize("message", [{"type": "nonsense"}, {"type": "ask", "text": "no thread"}])
async def test_a_request_that_is_not_understood_is_refused(page: Page, message: dict[str, Any]) -> None:
    page.session.receive({**message, "id": "1"})
    assert (await page.answer("1"))["error"]["code"] == "bad_call"


def test_a_link_never_leaves_the_site() -> None:
    assert link_to(ROOT, "b/c.html#d") == ROOT + "b/c.html#d"
    assert link_to(ROOT, "c.html#:~:text=a%20b") == ROOT + "c.html#:~:text=a%20b"
    for foreign in ("javascript:alert(1)", "https://evil.example/", "//evil.example/x", "data:text/html,x"):
        assert link_to(ROOT, foreign) == ROOT


def test_the_readers_page_is_a_path_of_the_site() -> None:
    assert path_in(ROOT, ROOT + "b/c%20d.html?utm=1#obey") == "b/c d.html"
    assert path_in(ROOT, ROOT) == ""
    for foreign in ("https://elsewhere.example/docs/a.html", "about:blank", ROOT.rstrip("/") + "x/a.html", "file:///a"):
        assert path_in(ROOT, foreign) is None
