from __future__ import annotations

from typing import Any

import pytest

from py_agent.model.base import Record
from py_agent.runner.bus import Bus, ListenerFailed, ObservabilityBus
from py_agent.runner.events import AnswerDelta, Status


def test_subscribers_get_events_in_the_order_in_which_they_came() -> None:
    bus: Bus[Record] = Bus()
    seen: list[tuple[str, Any]] = []
    bus.on(lambda event: seen.append(("all", event)))
    bus.on(lambda event: seen.append(("deltas", event)), "answer_delta")
    delta, status = AnswerDelta(text="a"), Status(phase="planning")
    bus.emit(delta)
    bus.emit(status)
    assert seen == [("all", delta), ("deltas", delta), ("all", status)]


def test_who_unsubscribes_gets_no_more_and_may_do_so_while_an_event_is_handed_out() -> None:
    bus: Bus[Record] = Bus()
    seen: list[str] = []

    def once(_: Record) -> None:
        seen.append("once")
        off()

    off = bus.on(once)
    bus.on(lambda _: seen.append("other"))
    for _ in range(2):
        bus.emit(AnswerDelta(text="a"))
    off()
    assert seen == ["once", "other", "other"]


def test_what_a_subscriber_of_the_functional_bus_raises_reaches_whoever_emits() -> None:
    bus: Bus[Record] = Bus()
    bus.on(lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bus.emit(AnswerDelta(text="a"))


def test_a_failing_observer_is_told_to_the_others_and_breaks_nothing() -> None:
    bus = ObservabilityBus()
    seen: list[Record] = []

    def broken(_: Record) -> None:
        raise ValueError("no")

    bus.on(broken)
    bus.on(seen.append)
    bus.on(broken)
    event = AnswerDelta(text="a")
    bus.emit(event)
    bus.emit(event)
    failed = [item for item in seen if isinstance(item, ListenerFailed)]
    assert seen.count(event) == 2
    assert {(item.event, item.error) for item in failed} == {("answer_delta", "ValueError: no")}
    assert "broken" in failed[0].listener
