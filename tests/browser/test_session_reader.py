"""What a reader does through the page while a turn runs: decides and adds. Real agent, real store."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from py_agent.agent import AgentConfig, DocsAgent
from py_agent.browser.session import Session
from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.gate import GateRequest
from py_agent.model.tool import Tool, ToolArgs, ToolResult
from py_agent.runner.contexts import TurnContext
from py_agent.storage.spool import MemorySpool
from py_agent.storage.sqlite import SqliteConnection
from py_agent.storage.store import Store
from tests.browser.test_session_requests import ROOT, Page
from tests.harness import WordSearch, call, passage

DOCS = [passage("p1", "The light goes on with lantern on.")]
ANSWER = call(
    "provide_answer", answer="On.", sources=[{"passage": "p1", "quote": "The light goes on with lantern on."}]
)
REQUESTS = {
    "ring": GateRequest(id="g1", kind="approve", tool="ring", text="Ring the bell?"),
    "which": GateRequest(id="g2", kind="ask", tool="which", text="Which bell?", choices=("big", "small")),
}


class NoArgs(ToolArgs):
    pass


def tools(turn: TurnContext) -> list[Tool]:
    def make(name: str) -> Tool:
        async def handler(_args: NoArgs, _context: Any) -> ToolResult:
            decided = await turn.wait_for(REQUESTS[name])
            return ToolResult(text=f"The reader: {decided.result} {decided.value}.")

        return Tool(name=name, description="Asks the reader.", args=NoArgs, handler=handler)

    return [make(name) for name in REQUESTS]


class Prepare:
    """Holds the first turn in front of its first request until ``go`` is set."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self) -> None:
        await self.go.wait()


class Chat:
    """A session over an agent with a script, and the page in front of it."""

    def __init__(self, store: Store, outputs: list[Any]) -> None:
        self.prepare = Prepare()
        self.engine = ScriptedEngine(outputs)
        search = WordSearch(DOCS)
        agent = DocsAgent(
            self.engine,
            search,
            store,
            MemorySpool(),
            AgentConfig(planner=False),
            prepare=self.prepare,
            tools=tools,
        )
        self.sent: list[dict[str, Any]] = []
        session = Session(agent, search, store, MemorySpool(), send=self.sent.append, root=ROOT, kept=True, notice="")
        self.page = Page(session, self.sent)

    def ask(self, text: str, id: str = "1") -> None:
        self.page.session.receive({"type": "ask", "id": id, "text": text, "thread": None, "page": None})

    def events(self, type: str) -> list[dict[str, Any]]:
        events = [message["event"] for message in self.sent if message["type"] == "event"]
        return [event for event in events if event["type"] == type]

    async def event(self, type: str) -> dict[str, Any]:
        async with asyncio.timeout(5):
            while not self.events(type):
                await asyncio.sleep(0)
        return self.events(type)[-1]


@pytest.fixture
async def store() -> Store:
    store = Store(SqliteConnection())
    await store.open()
    return store


@pytest.mark.parametrize("value", [True, False])
async def test_the_page_decides_what_a_tool_asks(store: Store, value: bool) -> None:
    chat = Chat(store, [call("ring"), "Done, the bell is quiet."])
    chat.ask("Ring it.")
    assert (await chat.event("gate_open"))["gate"]["text"] == "Ring the bell?"
    assert (await chat.page.call("decide", "2", ask="1", gate="g1", value=value))["value"] is True
    closed = await chat.event("gate_closed")
    assert (closed["id"], closed["result"], closed["value"]) == ("g1", "resolved", value)
    await chat.page.answer("1")
    assert f"resolved {value}" in chat.events("tool_end")[0]["shown"]


async def test_an_answer_that_does_not_fit_is_refused_and_the_next_one_counts(store: Store) -> None:
    chat = Chat(store, [call("which"), "Done, the bell is chosen."])
    chat.ask("Which?")
    await chat.event("gate_open")
    for wrong in ("medium", True, " ", 7):
        refused = await chat.page.call("decide", f"wrong {wrong}", ask="1", gate="g2", value=wrong)
        assert refused["error"]["code"] == "bad_answer"
    assert chat.events("gate_closed") == []
    assert (await chat.page.call("decide", "2", ask="1", gate="g2", value="small"))["value"] is True
    assert (await chat.event("gate_closed"))["value"] == "small"


async def test_a_reader_who_skips_is_not_waited_for(store: Store) -> None:
    chat = Chat(store, [call("which"), "Done, whichever bell."])
    chat.ask("Which?")
    await chat.event("gate_open")
    await chat.page.call("decide", "2", ask="1", gate="g2", value=None)
    assert (await chat.event("gate_closed"))["result"] == "timeout"
    assert (await chat.page.answer("1"))["type"] == "result"


async def test_a_decision_that_comes_twice_or_too_late_is_refused_by_name(store: Store) -> None:
    chat = Chat(store, [call("ring"), "Done, the bell is quiet."])
    chat.ask("Ring it.")
    await chat.event("gate_open")
    chat.page.session.receive({"type": "decide", "id": "2", "ask": "1", "gate": "g1", "value": False})
    second = await chat.page.call("decide", "3", ask="1", gate="g1", value=True)
    assert second["error"]["code"] == "no_gate"
    await chat.page.answer("1")
    assert chat.events("gate_closed")[0]["value"] is False
    late = await chat.page.call("decide", "4", ask="1", gate="g1", value=True)
    assert late["error"]["code"] == "turn_over"


async def test_stop_while_the_turn_asks_closes_the_gate(store: Store) -> None:
    chat = Chat(store, [call("ring")])
    chat.ask("Ring it.")
    await chat.event("gate_open")
    await chat.page.call("stop", "2", ask="1")
    assert (await chat.page.answer("1"))["error"]["code"] == "stopped"
    assert chat.events("gate_closed")[0]["result"] == "aborted"
    thread = (await chat.page.call("thread", "3"))["value"]
    assert [message["state"] for message in thread["messages"]] == ["interrupted"]


async def test_words_added_while_the_first_turn_loads_are_in_its_first_request(store: Store) -> None:
    chat = Chat(store, [call("search_docs", query="light lantern"), ANSWER])
    chat.prepare.go.clear()
    chat.ask("How do I turn on the light?")
    # The very next message: the turn has not even an id yet.
    added = await chat.page.call("add", "2", ask="1", text="  In the dark. ")
    assert added["type"] == "result"
    chat.prepare.go.set()
    assert (await chat.page.answer("1"))["value"]["status"] == "answered"
    assert (await chat.event("addition")) == {"type": "addition", "text": "In the dark.", "message": added["value"]}
    messages = (await chat.page.call("thread", "3"))["value"]["messages"]
    assert [(message["content"], message["state"]) for message in messages[:2]] == [
        ("How do I turn on the light?", "done"),
        ("In the dark.", "done"),
    ]
    assert "In the dark." in str(chat.engine.prompts[0])


async def test_words_for_an_answer_that_is_finished_are_refused_by_name(store: Store) -> None:
    chat = Chat(store, [call("search_docs", query="light lantern"), ANSWER])
    chat.ask("How do I turn on the light?")
    await chat.page.answer("1")
    assert (await chat.page.call("add", "2", ask="1", text="In the dark."))["error"]["code"] == "turn_over"
    assert (await chat.page.call("add", "3", ask="9", text="In the dark."))["error"]["code"] == "turn_over"
    assert (await chat.page.call("add", "4", ask="1", text=" "))["error"]["code"] == "empty_question"


async def test_words_for_a_question_that_is_stopped_before_it_begins_are_refused(store: Store) -> None:
    chat = Chat(store, [ANSWER])
    chat.ask("How do I turn on the light?")
    chat.page.session.receive({"type": "add", "id": "2", "ask": "1", "text": "In the dark."})
    chat.page.session.receive({"type": "stop", "id": "3", "ask": "1"})
    assert (await chat.page.answer("1"))["error"]["code"] == "stopped"
    assert (await chat.page.answer("2"))["error"]["code"] == "turn_over"
