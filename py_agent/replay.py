"""Runs a traced turn again, from its trace alone, and says where it departs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from py_agent.agent import AgentConfig, DocsAgent
from py_agent.engines.base import EngineInfo
from py_agent.model.base import Record
from py_agent.model.record import StoredMessage, TurnRecord
from py_agent.storage.spool import MemorySpool
from py_agent.trace.lines import TraceError
from py_agent.trace.replaying import (
    Departed,
    ReplayClock,
    ReplayEngine,
    ReplayInstructions,
    ReplayMemories,
    ReplaySearcher,
    ReplayTools,
    replay_nonces,
)

#: Fields of events that no two runs have in common.
VOLATILE = frozenset({"ms", "first_ms"})

#: Characters on either side of a difference that a report shows.
AROUND = 60


class Departure(Record):
    """The first event that is not the traced one.

    Attributes:
        number: Position among the events of the turn, counted from 1.
        expected, got: The traced event and the new one; None where there is none.
        where: The field that differs, and the text around the first difference on either side.
    """

    number: int
    expected: dict[str, Any] | None
    got: dict[str, Any] | None
    where: str


class ReplayReport(Record):
    """What a replay found.

    Attributes:
        events: How many events agree.
        complete: Whether the traced turn ran to its end. One that was stopped or killed is replayed up to there.
        departure: None where every traced event came again.
    """

    events: int
    complete: bool
    departure: Departure | None = None


async def replay(lines: Sequence[dict[str, Any]]) -> ReplayReport:
    """Runs the turn of a trace again.

    Args:
        lines: As ``py_agent.trace.lines.decode`` gives them.

    Returns:
        Where it departs, if it does.

    Raises:
        TraceError: A line does not hold what lines of its kind hold.
    """
    try:
        return await _replay(lines)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        # A trace may come from anywhere, and its lines are read while the turn runs.
        raise TraceError(
            f"The trace does not hold what a trace holds ({type(error).__name__}: {str(error)[:200]}).",
            hint="Export it again; it was changed, or another version wrote it.",
        ) from error


async def _replay(lines: Sequence[dict[str, Any]]) -> ReplayReport:
    head = lines[0]
    expected = [line["event"] for line in lines if line["k"] == "event"]
    got: list[dict[str, Any]] = []
    store = _ReplayStore(lines)
    tools = ReplayTools(lines)
    clock = ReplayClock(lines)
    standing = ReplayInstructions(lines)
    engine = ReplayEngine(EngineInfo.model_validate(head["engine"]), lines)
    agent = DocsAgent(
        engine,
        ReplaySearcher(lines),
        store,
        MemorySpool(),
        AgentConfig.model_validate(head["config"]),
        nonce=replay_nonces(lines),
        prepare=lambda: reader.add_early(engine.early),
        new_turn=lambda: str(head["turn"]),
        tools=tools.tools if tools.any else None,
        memories=ReplayMemories(lines) if any(line["k"] == "memories" for line in lines) else None,
        instructions=standing if standing.any else None,
        clock=clock.now,
        zone_offset=clock.offset,
    )
    reader = _Reader(agent, head["turn"], expected)
    engine.on_addition = reader.add

    def take(event: Record) -> None:
        got.append(event.model_dump(mode="json"))
        reader.see(event)

    used_up: list[int] = []
    engine.on_end = lambda: used_up.append(len(got))
    await agent.run_turn(
        head["thread"], head["question"], emit=take, observe=take, page=head["page"], interactive=head["interactive"]
    )
    end = next((event for event in expected if event["type"] == "turn_end"), None)
    complete = end is not None and end["status"] != "interrupted"
    if not complete and used_up:
        # What the trace holds behind its last chunk came of chunks that it does not hold.
        expected, got = expected[: used_up[0]], got[: used_up[0]]
    own = tools.names
    return _compare(_ordered(expected, own), _ordered(got, own), complete=complete)


def _ordered(events: list[dict[str, Any]], own: set[str]) -> list[dict[str, Any]]:
    """The events that come again in their order.

    When the reader adds something is not the turn's own, only when the model is told. What an integrator's tools ask
    the reader is not asked again: their results are in the trace.
    """
    theirs = {event["gate"]["id"] for event in events if event["type"] == "gate_open" and event["gate"]["tool"] in own}
    return [
        event
        for event in events
        if event["type"] != "addition"
        and not (event["type"] == "gate_open" and event["gate"]["id"] in theirs)
        and not (event["type"] == "gate_closed" and event["id"] in theirs)
    ]


class _Reader:
    """Does in the replay what the reader did: decides, and adds."""

    def __init__(self, agent: DocsAgent, turn: str, expected: Sequence[dict[str, Any]]) -> None:
        self._agent = agent
        self._turn = turn
        self._closed = {event["id"]: event for event in expected if event["type"] == "gate_closed"}

    def see(self, event: Record) -> None:
        if getattr(event, "type", "") != "gate_open":
            return
        gate = event.gate.id  # type: ignore[attr-defined]
        closed = self._closed.get(gate)
        loop = asyncio.get_running_loop()
        if closed is not None and closed["result"] == "resolved":
            loop.call_soon(self._agent.resolve_gate, self._turn, gate, closed["value"])
        else:
            loop.call_soon(self._agent.expire_gate, self._turn, gate)

    async def add_early(self, texts: Sequence[str]) -> None:
        for text in texts:
            await self.add(text)

    async def add(self, text: str) -> None:
        await self._agent.add(self._turn, text)


class _ReplayStore:
    """The thread as it was when the traced turn began; keeps nothing."""

    def __init__(self, lines: Sequence[dict[str, Any]]) -> None:
        told: list[Any] = next((line["messages"] for line in lines if line["k"] == "history"), [])
        self._history = [StoredMessage.model_validate(message) for message in told]
        events = [line["event"] for line in lines if line["k"] == "event"]
        self._ids = [event["message"] for event in events if event["type"] in ("turn_start", "addition")]

    async def open_question(self, thread: str, text: str, turn: str) -> str:
        if not self._ids:
            raise Departed("The turn stores one message more than the traced one did.")
        return str(self._ids.pop(0))

    async def commit_turn(self, turn: TurnRecord) -> None:
        pass

    async def mark_interrupted(self, message_id: str) -> None:
        pass

    async def history(self, thread: str) -> list[StoredMessage]:
        return self._history


def _compare(expected: list[dict[str, Any]], got: list[dict[str, Any]], *, complete: bool) -> ReplayReport:
    if not complete:
        got = got[: len(expected)]
    for number, (old, new) in enumerate(zip(expected, got, strict=False), start=1):
        where = _difference(old, new)
        if where:
            departure = Departure(number=number, expected=old, got=new, where=where)
            return ReplayReport(events=number - 1, complete=complete, departure=departure)
    if len(expected) != len(got):
        number = min(len(expected), len(got))
        departure = Departure(
            number=number + 1,
            expected=expected[number] if number < len(expected) else None,
            got=got[number] if number < len(got) else None,
            where="the replay ends earlier" if number < len(expected) else "the replay goes on",
        )
        return ReplayReport(events=number, complete=complete, departure=departure)
    return ReplayReport(events=len(expected), complete=complete)


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    for key in ("type", *sorted((old.keys() | new.keys()) - VOLATILE - {"type"})):
        if old.get(key) != new.get(key):
            first, second = str(old.get(key)), str(new.get(key))
            at = next(
                (at for at, (one, two) in enumerate(zip(first, second, strict=False)) if one != two),
                min(len(first), len(second)),
            )
            span = slice(max(0, at - AROUND), at + AROUND)
            return f"{old['type']}.{key} at character {at}: traced ...{first[span]!r}, now ...{second[span]!r}"
    return ""
