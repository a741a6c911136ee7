"""A turn may ask its reader, and never hangs on the answer."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest

from py_agent.model.gate import GateAnswer, GateRequest
from py_agent.runner.turn_gate import MAX_ANSWER_CHARS, GateError, TurnGates


def gates(*, interactive: bool = True) -> tuple[TurnGates, list[Any]]:
    events: list[Any] = []
    return TurnGates(events.append, interactive=interactive), events


def approve(id: str = "g1", timeout_s: float = 5) -> GateRequest:
    return GateRequest(id=id, kind="approve", tool="navigate", text="Go there?", timeout_s=timeout_s)


async def test_the_reader_decides() -> None:
    asked, events = gates()
    waiting = asyncio.ensure_future(asked.wait_for(approve()))
    await asyncio.sleep(0)
    asked.resolve("g1", True)
    answer = await waiting
    assert answer == GateAnswer(result="resolved", value=True)
    assert answer.approved
    assert [(event.type, getattr(event, "result", None)) for event in events] == [
        ("gate_open", None),
        ("gate_closed", "resolved"),
    ]


async def test_a_no_is_no_approval() -> None:
    asked, _ = gates()
    waiting = asyncio.ensure_future(asked.wait_for(approve()))
    await asyncio.sleep(0)
    asked.resolve("g1", False)
    assert not (await waiting).approved


async def test_a_reader_who_does_not_answer_in_time_has_not_approved() -> None:
    asked, events = gates()
    assert await asked.wait_for(approve(timeout_s=0.01)) == GateAnswer(result="timeout")
    assert events[-1].result == "timeout"
    with pytest.raises(GateError) as caught:
        asked.resolve("g1", True)
    assert caught.value.code == "no_gate"


async def test_without_anybody_to_ask_the_turn_goes_on_at_once() -> None:
    asked, events = gates(interactive=False)
    assert await asked.wait_for(approve()) == GateAnswer(result="aborted")
    assert events == []


@pytest.mark.parametrize("value", ["yes", 1, None, {"ok": True}])
async def test_a_decision_that_is_none_leaves_the_gate_open(value: Any) -> None:
    asked, _ = gates()
    waiting = asyncio.ensure_future(asked.wait_for(approve()))
    await asyncio.sleep(0)
    with pytest.raises(GateError) as caught:
        asked.resolve("g1", value)
    assert caught.value.code == "bad_answer"
    asked.resolve("g1", True)
    assert (await waiting).approved


@pytest.mark.parametrize("value", ["", "  ", "x" * (MAX_ANSWER_CHARS + 1), "purple", 7])
async def test_an_answer_is_text_and_one_of_the_choices(value: Any) -> None:
    asked, _ = gates()
    request = GateRequest(id="g1", kind="ask", tool="ask_reader", text="Which?", choices=("red", "blue"))
    waiting = asyncio.ensure_future(asked.wait_for(request))
    await asyncio.sleep(0)
    with pytest.raises(GateError):
        asked.resolve("g1", value)
    asked.resolve("g1", "blue")
    assert (await waiting).value == "blue"


async def test_a_schema_of_the_asker_decides_what_an_answer_is() -> None:
    asked, _ = gates()
    waiting = asyncio.ensure_future(asked.wait_for(approve(), Literal["a", "b"]))
    await asyncio.sleep(0)
    with pytest.raises(GateError):
        asked.resolve("g1", True)
    asked.resolve("g1", "b")
    assert (await waiting).value == "b"


async def test_a_second_gate_waits_for_the_first() -> None:
    asked, events = gates()
    first = asyncio.ensure_future(asked.wait_for(approve("g1")))
    second = asyncio.ensure_future(asked.wait_for(approve("g2")))
    await asyncio.sleep(0)
    with pytest.raises(GateError):
        asked.resolve("g2", True)
    asked.resolve("g1", False)
    await first
    await asyncio.sleep(0)
    asked.resolve("g2", True)
    assert (await second).approved
    assert [event.type for event in events] == ["gate_open", "gate_closed"] * 2


async def test_a_second_decision_is_refused() -> None:
    asked, _ = gates()
    waiting = asyncio.ensure_future(asked.wait_for(approve()))
    await asyncio.sleep(0)
    asked.resolve("g1", True)
    with pytest.raises(GateError):
        asked.resolve("g1", False)
    assert (await waiting).approved


async def test_a_stopped_turn_closes_its_gate() -> None:
    asked, events = gates()
    waiting = asyncio.ensure_future(asked.wait_for(approve()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert events[-1].result == "aborted"
    later = asyncio.ensure_future(asked.wait_for(approve("g2")))
    await asyncio.sleep(0)
    asked.resolve("g2", True)
    assert (await later).approved
