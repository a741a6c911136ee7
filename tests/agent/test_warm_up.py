"""What the first question needs is made ready once, whoever comes first."""

from __future__ import annotations

import asyncio

import pytest

from py_agent.agent import AgentConfig, DocsAgent
from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.errors import AgentError
from py_agent.storage.spool import MemorySpool
from tests.harness import ListStore, WordSearch, call

END = call("say_i_dont_know", reason="Enough.")


class Prepare:
    """Counts its calls; the first ``failures`` of them fail."""

    def __init__(self, failures: int = 0) -> None:
        self.calls = 0
        self.failures = failures

    async def __call__(self) -> None:
        self.calls += 1
        await asyncio.sleep(0)
        if self.calls <= self.failures:
            raise AgentError("The package is missing.", hint="Upload it.")


def agent(prepare: Prepare) -> DocsAgent:
    config = AgentConfig(planner=False)
    return DocsAgent(ScriptedEngine([END]), WordSearch([]), ListStore(), MemorySpool(), config, prepare=prepare)


async def test_the_host_and_the_first_question_make_ready_once() -> None:
    prepare = Prepare()
    made = agent(prepare)
    await asyncio.gather(made.warm_up(), made.run_turn("t", "What is in stock?"), made.warm_up())
    assert prepare.calls == 1


async def test_what_failed_is_tried_again() -> None:
    prepare = Prepare(failures=1)
    made = agent(prepare)
    with pytest.raises(AgentError, match="The package is missing"):
        await made.warm_up()
    await made.warm_up()
    assert prepare.calls == 2
