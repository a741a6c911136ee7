"""Whatever happens to a turn, in whatever order: no crash, no half turn, nothing left behind, and the next one runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_agent.agent import AgentConfig, DocsAgent
from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.errors import AgentError, EngineError, StorageError
from py_agent.storage.base import Row, Statement
from py_agent.storage.keys import sweep
from py_agent.storage.spool import MemorySpool
from py_agent.storage.sqlite import SqliteConnection
from py_agent.storage.store import Store
from tests.agent.test_reader_in_a_turn import SEARCH, answer, asking_tool
from tests.harness import WordSearch, call, passage

# Event loops of its own, and hundreds of thousands of their turns, which cost 4 ms each in a browser.
# test_stopping_a_turn.py stops a smaller turn at every await in the page, too.
pytestmark = pytest.mark.cpython

FILLER = "The lantern is a lamp for the dark months, carried by its handle. " * 40
DOCS = [passage("p1", f"The light goes on with lantern on. It goes off with lantern off. {FILLER}")]

#: Search (a result that is spooled), a question to the reader, reading, an answer; then an answer again and again, for
#: whatever was added meanwhile.
SCRIPT: list[Any] = [SEARCH, call("ring"), call("artifact_cat", call_id="c1"), answer("On.")]

#: Stops in a row that came too late, after which there is no later await to meet.
LATE_STOPS = 20

#: A turn of this script takes a few hundred turns of the event loop; one that takes so many never ends.
MAX_STEPS = 3_000

DONE = ("answered", "abstained", "uncited")


class ShakyConnection(SqliteConnection):
    """Gives way to the loop at each statement, as a worker does, and fails at those that the test names."""

    def __init__(self) -> None:
        super().__init__()
        self.failing: set[int] = set()
        self.calls = 0
        self.failed = 0

    async def _shake(self) -> None:
        self.calls += 1
        number = self.calls
        await asyncio.sleep(0)
        if number in self.failing:
            self.failed += 1
            raise StorageError("The disk is full.", hint="Free some space.", code="full")

    async def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        await self._shake()
        return await super().execute(sql, params)

    async def transaction(self, statements: Sequence[Statement]) -> None:
        await self._shake()
        await super().transaction(statements)
        await asyncio.sleep(0)  # done, and the answer is on its way: a stop may come just now


class Scene:
    """One turn over a real store, and all that is done to it."""

    def __init__(self, outputs: list[Any]) -> None:
        self.engine = ScriptedEngine(outputs, repeat_last=True, chunk_size=60)
        self.connection = ShakyConnection()
        self.store = Store(self.connection)
        self.spool = MemorySpool()
        self.events: list[Any] = []
        self.added: dict[str, bool] = {}
        self.agent = DocsAgent(
            self.engine, WordSearch(DOCS), self.store, self.spool, AgentConfig(planner=False), tools=asking_tool
        )

    @property
    def turn(self) -> str:
        return next((event.turn for event in self.events if event.type == "turn_start"), "")

    def of(self, type: str) -> list[Any]:
        return [event for event in self.events if event.type == type]

    async def act(self, action: str, task: asyncio.Task[Any]) -> None:
        try:
            if action == "stop":
                task.cancel()
            elif action == "add":
                text = f"And {len(self.added)}?"
                self.added[text] = False
                await self.agent.add(self.turn, text)
                self.added[text] = True
            elif action == "expire":
                self.agent.expire_gate(self.turn, "g1")
            else:
                self.agent.resolve_gate(self.turn, "g1", {"yes": True, "no": False, "wrong": "perhaps"}[action])
        except AgentError as error:
            assert error.code in ("turn_over", "no_gate", "bad_answer", "full"), error

    async def play(self, plan: list[tuple[int, str]]) -> None:
        """Runs the turn, with each action so many turns of the loop after the one before it."""
        ask = self.agent.run_turn("t", "How do I turn it on?", emit=self.events.append, interactive=True)
        task = asyncio.ensure_future(ask)
        acts: list[asyncio.Task[None]] = []
        for steps, action in plan:
            for _ in range(steps):
                await asyncio.sleep(0)
            acts.append(asyncio.ensure_future(self.act(action, task)))
        while not task.done():
            await asyncio.sleep(0)
            if len(self.of("gate_open")) > len(self.of("gate_closed")):
                await self.act("expire", task)
        await asyncio.gather(*acts)
        failure = None if task.cancelled() else task.exception()
        assert failure is None, failure

    async def check(self) -> None:
        """Nothing is half done, and the thread tells what the reader was told."""
        ends = self.of("turn_end")
        if not self.events:
            ends = []  # stopped before it began
        else:
            assert len(ends) == 1
            assert self.events[-1] is ends[0] or self.events[-1].type == "addition"
        assert len(self.of("gate_open")) == len(self.of("gate_closed"))
        self.connection.failing.clear()
        # Only a store that failed may leave anything to the next start.
        opened = [message for message in await self.store.history("t") if message.state == "open"]
        assert opened == [] or self.connection.failed
        await sweep(self.store, self.spool)
        messages = await self.store.history("t")
        states = {message.content: message.state for message in messages if message.role == "user"}
        answers = [message for message in messages if message.role == "assistant"]
        calls = await self.store.tool_calls("t")
        if ends and ends[0].status in DONE:
            assert [message.id for message in answers] == [ends[0].message]
            assert answers[0].content == ends[0].answer
            assert states["How do I turn it on?"] == "done"
            # What the agent took was told to the model and belongs to the turn; what it refused waits to be asked.
            assert all(states[text] == ("done" if taken else "interrupted") for text, taken in self.stored(states))
        else:
            assert answers == calls == await self.store.thoughts("t") == []
            assert set(states.values()) <= {"interrupted"}
            assert await self.spool.delete("turns/") == 0
        spooled = [stored.spool_key for stored in calls if stored.spool_key]
        assert all([await self.spool.size(key) for key in spooled])

    def stored(self, states: dict[str, str]) -> list[tuple[str, bool]]:
        """The additions that reached the store, and whether the turn took them."""
        return [(text, taken) for text, taken in self.added.items() if text in states]

    async def next_turn(self) -> None:
        """The engine is free, and another turn is answered."""
        self.engine._outputs = [SEARCH, answer("On.")]  # an error that nobody has met yet is not part of the question
        end = await self.agent.run_turn("next", "How do I turn it on?")
        assert end.status in DONE, end


ACTIONS = st.sampled_from(["stop", "add", "add", "yes", "no", "wrong", "expire"])
ERRORS = st.sampled_from([None, None, None, *range(len(SCRIPT))])


@settings(max_examples=150, deadline=None)
@given(
    plan=st.lists(st.tuples(st.integers(0, 60), ACTIONS), max_size=6),
    broken=ERRORS,
    failing=st.sets(st.integers(1, 12), max_size=3),
)
def test_events_in_any_order_leave_a_whole_turn_or_none(
    plan: list[tuple[int, str]], broken: int | None, failing: set[int]
) -> None:
    async def run() -> None:
        outputs = list(SCRIPT)
        if broken is not None:
            outputs[broken] = EngineError("The engine was lost.", hint="Ask again.", code="lost")
            outputs.append(SCRIPT[-1])
        scene = Scene(outputs)
        await scene.store.open()
        scene.connection.calls, scene.connection.failing = 0, set(failing)
        async with asyncio.timeout(10):
            await scene.play(plan)
            await scene.check()
            await scene.next_turn()
        await scene.connection.close()

    asyncio.run(run())


async def test_a_stop_at_every_await_of_a_turn_with_gate_spool_and_addition() -> None:
    ends: Counter[str] = Counter()
    steps = 0
    while ends["answered"] < LATE_STOPS:
        steps += 1
        assert steps < MAX_STEPS, ends
        scene = Scene(list(SCRIPT))
        await scene.store.open()
        # The reader adds early and allows late, while the stop comes ever later.
        plan = sorted([(20, "add"), (150, "yes"), (steps, "stop")])
        waits = [at - before for (at, _), before in zip(plan, [0, *(at for at, _ in plan)], strict=False)]
        async with asyncio.timeout(10):
            await scene.play([(wait, action) for wait, (_, action) in zip(waits, plan, strict=True)])
            await scene.check()
            await scene.next_turn()
        ends[scene.of("turn_end")[0].status if scene.events else "never"] += 1
        await scene.connection.close()
    # All others were stopped in the middle: every await has been met.
    assert ends["interrupted"] > 100, ends
