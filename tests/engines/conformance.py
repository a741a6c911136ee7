"""What every engine does, whatever stands behind it. ``test_conformance.py`` runs it over each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, Protocol, cast

from py_agent.engines.base import Engine
from py_agent.model.errors import EngineError
from py_agent.model.prompt import CallSpec, Chunk, GenerateOptions, Prompt, PromptMessage, ToolSpec
from py_agent.prompt.splitter import StreamSplitter

PROMPT = Prompt(
    messages=(
        PromptMessage(role="system", content="Be brief. ü🙂"),
        PromptMessage(role="user", content="How does the light go on?"),
    ),
    tools=(
        ToolSpec(
            name="search_docs",
            description="Searches.",
            parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        ),
    ),
)
LATER = Prompt(
    messages=(
        *PROMPT.messages,
        PromptMessage(role="model", content="", calls=(CallSpec(name="search_docs", arguments={"query": 'a "b"\n'}),)),
        PromptMessage(role="tool", name="search_docs", content="[search_docs 1a2b]\nnothing\n[/search_docs 1a2b]"),
    ),
    tools=PROMPT.tools,
)


class Maker(Protocol):
    """Makes engines of one kind that were told what to say."""

    #: Whether the engine says what the test wants; a real model says what it will.
    scripted: bool

    async def __call__(self, *outputs: str | EngineError, delay: float = 0.0) -> Engine:
        """An opened engine that gives the n-th request the n-th output."""
        ...


async def take(engine: Engine, prompt: Prompt = PROMPT, tokens: int = 64) -> list[Chunk]:
    stream = cast(Any, engine.generate(prompt, GenerateOptions(max_output_tokens=tokens)))
    async with aclosing(stream) as chunks:
        return [chunk async for chunk in chunks]


def whole(chunks: list[Chunk]) -> tuple[str, list[CallSpec]]:
    """Text and calls of a completion, whoever took it apart."""
    splitter = StreamSplitter(PROMPT.tools)
    for chunk in chunks:
        splitter.feed(chunk.text if chunk.kind == "text" else "")
    output = splitter.finish()
    return output.text, [*output.calls, *(chunk.call for chunk in chunks if chunk.call is not None)]


async def the_last_chunk_is_the_only_end(make: Maker) -> None:
    chunks = await take(await make("It goes on."))
    assert [chunk.kind for chunk in chunks].count("end") == 1
    assert chunks[-1].kind == "end"
    assert chunks[-1].reason in ("stop", "length")
    assert all(chunk.reason is None for chunk in chunks[:-1])


async def text_and_unicode_come_whole(make: Maker) -> None:
    chunks = await take(await make("Use `lantern on` 🙂 – ü 漢字."))
    if make.scripted:
        assert whole(chunks)[0] == "Use `lantern on` 🙂 – ü 漢字."


async def calls_results_and_quotes_survive_in_a_prompt(make: Maker) -> None:
    assert (await take(await make("Nothing."), LATER))[-1].kind == "end"


async def one_engine_serves_one_request_after_another(make: Maker) -> None:
    engine = await make("One.", "Two.", "Three.")
    for _ in range(3):
        assert (await take(engine))[-1].kind == "end"


async def closing_the_stream_early_frees_the_engine(make: Maker) -> None:
    engine = await make("word " * 200, "Two.", delay=0.002)
    stream = cast(Any, engine.generate(PROMPT, GenerateOptions(max_output_tokens=64)))
    async with aclosing(stream) as chunks:
        async for _ in chunks:
            break
    assert (await asyncio.wait_for(take(engine), 30))[-1].kind == "end"


async def a_cancelled_task_frees_the_engine(make: Maker) -> None:
    engine = await make("word " * 200, "Two.", delay=0.002)
    task = asyncio.ensure_future(take(engine))
    await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait({task})
    assert (await asyncio.wait_for(take(engine), 30))[-1].kind == "end"


async def cancel_ends_the_stream_that_runs(make: Maker) -> None:
    engine = await make("word " * 400, "Two.", delay=0.002)
    reasons = []
    stream = cast(Any, engine.generate(PROMPT, GenerateOptions(max_output_tokens=400)))
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            await engine.cancel()
            reasons.append(chunk.reason)
    assert reasons[-1] in ("cancelled", *(("stop", "length") if not make.scripted else ()))
    assert (await asyncio.wait_for(take(engine), 30))[-1].reason != "cancelled"


async def cancelling_nothing_does_nothing(make: Maker) -> None:
    engine = await make("One.")
    await engine.cancel()
    assert (await take(engine))[-1].reason != "cancelled"


async def a_second_request_waits_or_is_refused(make: Maker) -> None:
    engine = await make("word " * 20, "Two.", delay=0.002)
    results = await asyncio.gather(take(engine), take(engine), return_exceptions=True)
    assert any(isinstance(result, list) for result in results)
    for result in results:
        if isinstance(result, EngineError):
            assert result.code == "refused"
        else:
            assert isinstance(result, list)
            assert result[-1].kind == "end"


async def what_it_is_does_not_change_and_fits_a_window(make: Maker) -> None:
    engine = await make("One.")
    before = engine.info()
    await take(engine)
    assert engine.info() == before
    assert before.window >= 128
    assert before.name


async def it_counts_tokens_or_says_that_it_cannot(make: Maker) -> None:
    count = await (await make("One.")).count_tokens("How does the light go on?")
    assert count is None or 0 < count < 100


async def it_may_be_closed_twice(make: Maker) -> None:
    engine = await make("One.")
    await engine.close()
    await engine.close()


async def errors_have_their_codes(make: Maker) -> None:
    if not make.scripted:
        return
    for code, said in (("overflow", "context size"), ("out_of_memory", "out of memory"), ("refused", "no")):
        engine = await make(EngineError(said, code=code), "Two.")
        try:
            await take(engine)
        except EngineError as error:
            assert error.code == code
        else:
            raise AssertionError(f"{code} was not raised")
        assert (await take(engine))[-1].kind == "end"


BEHAVIOURS: list[Callable[[Maker], Awaitable[None]]] = [
    the_last_chunk_is_the_only_end,
    text_and_unicode_come_whole,
    calls_results_and_quotes_survive_in_a_prompt,
    one_engine_serves_one_request_after_another,
    closing_the_stream_early_frees_the_engine,
    a_cancelled_task_frees_the_engine,
    cancel_ends_the_stream_that_runs,
    cancelling_nothing_does_nothing,
    a_second_request_waits_or_is_refused,
    what_it_is_does_not_change_and_fits_a_window,
    it_counts_tokens_or_says_that_it_cannot,
    it_may_be_closed_twice,
    errors_have_their_codes,
]
