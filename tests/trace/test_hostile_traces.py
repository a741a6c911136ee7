"""A trace may come from anywhere: it is replayed or refused, and nothing else happens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.errors import AgentError
from py_agent.replay import ReplayReport, replay
from py_agent.trace.lines import TraceError, decode
from tests.trace.test_replay import ANSWER, READ, SEARCH, trace_of, world

HEAD = b'{"k":"turn","v":1}\n'
ODD: list[Any] = [None, True, -1, 1e400, "x", [], [1], {}, {"a": [1]}]


@pytest.mark.parametrize(
    "line",
    [
        b'{"k":"event","event":{"type":"x","prompt":{"keep":1e999,"of":0,"add":""}}}',
        b'{"k":"event","event":{}}',
        b'{"k":"event","event":{"type":[]}}',
        b'{"k":["event"]}',
        b'{"k":"event","event":' + b"[" * 100_000,
    ],
)
def test_a_line_that_is_none_is_refused_by_its_number(line: bytes) -> None:
    with pytest.raises(TraceError, match="Line 2"):
        decode(HEAD + line + b"\n")


async def test_a_trace_with_any_field_of_a_wrong_type_is_refused_or_replayed() -> None:
    made = world(ScriptedEngine([SEARCH, READ, ANSWER]), planner=False)
    await made.ask("How do I turn it on?")
    lines = [json.loads(line) for line in (await trace_of(made)).splitlines()]
    outcomes = set()
    for at, line in enumerate(lines):
        for key in line:
            odd = ODD[(at + len(key)) % len(ODD)]
            hostile = [*lines[:at], {**line, key: odd}, *lines[at + 1 :]]
            without = [*lines[:at], {name: line[name] for name in line if name != key}, *lines[at + 1 :]]
            for change in (hostile, without):
                try:
                    report = await replay(decode("".join(json.dumps(item) + "\n" for item in change).encode()))
                    assert isinstance(report, ReplayReport)
                    outcomes.add("report")
                except AgentError as error:
                    assert isinstance(error, TraceError)
                    outcomes.add("refused")
    assert outcomes == {"report", "refused"}
