from __future__ import annotations

from typing import Any

import pytest

from py_agent.engines.extractive import ExtractiveEngine
from py_agent.engines.scripted import ScriptedEngine
from tests.harness import PLAN, World, call, passage

PASSAGES = [passage("p1", "The timeout of a webhook is 12 seconds.", path=("Webhooks",))]


async def test_a_prompt_that_cannot_fit_is_refused_before_the_engine_sees_it() -> None:
    engine = ScriptedEngine([PLAN], window=512)
    world = World(engine, PASSAGES, max_output_tokens=256)
    end = await world.ask("How long is the webhook timeout?")
    assert end.status == "failed"
    assert end.error is not None
    assert end.error["code"] == "window_too_small"
    assert "512" in end.error["message"]
    assert engine.prompts == []
    assert world.store.messages[0].state == "interrupted"


async def test_old_turns_leave_whole_and_the_newest_stays() -> None:
    world = World(ExtractiveEngine(), PASSAGES)
    for number in range(6):
        await world.ask(f"Question {number}: how long is the webhook timeout? " + "word " * 200)
    quote = [{"passage": "p1", "quote": "The timeout of a webhook is 12 seconds."}]
    script = [PLAN, call("search_docs", query="webhook timeout"), call("provide_answer", answer="12 s.", sources=quote)]
    engine = ScriptedEngine(script, window=2_400)
    small = World(engine, PASSAGES, max_output_tokens=256)
    small.store.messages = world.store.messages
    end = await small.ask("And the webhook timeout now?")
    assert end.status == "answered"
    prompt = small.prompts[-1]
    assert "Question 0" not in prompt
    assert "Question 5" in prompt
    assert prompt.count("<|turn>user") == prompt.count("Question ") + 1
    assert any("older turns" in event.detail for event in small.of("status"))


class CountingEngine(ScriptedEngine):
    """Counts exactly, and says so how often it was asked."""

    def __init__(self, *args: Any, counted: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.counted = counted
        self.asked = 0

    async def count_tokens(self, text: str) -> int | None:
        self.asked += 1
        return self.counted


@pytest.mark.parametrize(("counted", "fits"), [(100, True), (9_000, False)])
async def test_near_the_limit_the_engines_own_count_decides(counted: int, fits: bool) -> None:
    script = [call("say_i_dont_know", reason="x")]
    engine = CountingEngine(script, window=1_300, counted=counted)
    world = World(engine, PASSAGES, planner=False, max_output_tokens=256)
    end = await world.ask("word " * 600)
    assert engine.asked > 0
    assert (end.status == "abstained") == fits


async def test_far_from_the_limit_nobody_is_asked_to_count() -> None:
    engine = CountingEngine([call("say_i_dont_know", reason="x")], window=8_192, counted=9_000)
    assert (await World(engine, PASSAGES, planner=False).ask("How?")).status == "abstained"
    assert engine.asked == 0
