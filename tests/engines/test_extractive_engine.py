"""The engine without a model, through the whole harness: its answer comes from the prompt and from nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from py_agent.engines import evidence, extractive, markdown, quoting, weighing
from py_agent.engines.extractive import ExtractiveEngine
from py_agent.gates import verified_citation
from py_agent.model.prompt import Chunk, GenerateOptions, Prompt, PromptMessage
from py_agent.prompt import held
from py_agent.prompt.calls import BadCall
from tests.harness import World, passage

PASSAGES = [
    passage(
        "p1",
        "Lantern can call a webhook after each build.\n\nThe default timeout of a webhook is 12 seconds. Retry it.",
        path=("Webhooks",),
    ),
    passage("p2", "To make a site, run:\n\n$ lantern init --force\n$ lantern build\n\nDone.", path=("Install",)),
    *[passage(f"x{n}", f"Part {n} of the manual is on default builds. " * 30, page=f"x{n}.html") for n in range(4)],
]


async def asked(question: str, passages: Any = PASSAGES) -> tuple[World, Any]:
    world = World(ExtractiveEngine(), passages)
    return world, await world.ask(question)


async def test_it_plans_searches_reads_and_answers_with_checked_quotes() -> None:
    world, end = await asked("What is the default timeout of a webhook?")
    assert end.status == "answered"
    assert "12 seconds" in end.answer.split("\n")[0]
    assert end.sources[0].passage == "p1"
    assert end.sources[0].quote in PASSAGES[0].text
    tools = [item.tool for item in world.store.turns[0].tool_calls]
    assert tools[0] == "search_docs"
    assert tools.count("artifact_cat") >= 1
    assert world.of("gate") == []
    assert "".join(event.text for event in world.of("answer_delta")) == end.answer


async def test_every_page_of_a_long_result_is_read() -> None:
    world, _ = await asked("What is the default timeout of a webhook in builds?")
    assert "That was all of" in world.prompts[-1]


async def test_the_answer_follows_the_passage_text() -> None:
    changed = [passage("p1", PASSAGES[0].text.replace("12 seconds", "47 minutes"), path=("Webhooks",)), *PASSAGES[1:]]
    _, end = await asked("What is the default timeout of a webhook?", changed)
    assert "47 minutes" in end.answer
    assert "12 seconds" not in end.answer


async def test_the_same_prompt_with_other_words_in_it_gives_other_words() -> None:
    class Recorder(ExtractiveEngine):
        def __init__(self) -> None:
            super().__init__()
            self.prompts: list[Prompt] = []

        def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
            self.prompts.append(prompt)
            return super().generate(prompt, options)

    engine = Recorder()
    await World(engine, PASSAGES).ask("What is the default timeout of a webhook?")
    last = engine.prompts[-1]
    swapped = Prompt.model_validate_json(last.model_dump_json().replace("12 seconds", "five weeks"))
    for prompt, words in ((last, "12 seconds"), (swapped, "five weeks")):
        text = "".join([chunk.text async for chunk in ExtractiveEngine().generate(prompt, GenerateOptions())])
        assert text.count(words) >= 2


async def test_a_broken_parser_fails_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise BadCall("broken on purpose")

    monkeypatch.setattr(held, "parse_calls", refuse)
    _, end = await asked("What is the default timeout of a webhook?")
    assert end.status != "answered"
    assert end.sources == ()


async def test_a_broken_gate_fails_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verified_citation, "find_quote", lambda quote, text: None)
    _, end = await asked("What is the default timeout of a webhook?")
    assert end.status == "abstained"
    assert end.sources == ()


async def test_a_question_about_a_name_that_the_docs_lack_ends_in_an_honest_no() -> None:
    _, end = await asked("How do I set the webhook timeout in Zanzibar builds?")
    assert end.status == "abstained"
    assert "Zanzibar" in end.answer
    assert end.related


async def test_a_question_that_finds_nothing_ends_in_an_honest_no() -> None:
    _, end = await asked("quuxify zzzz?")
    assert (end.status, end.related) == ("abstained", ())


async def test_a_listing_is_shown_as_a_listing() -> None:
    _, end = await asked("Which command do I run to make a site?")
    assert "```\n$ lantern init --force\n$ lantern build\n```" in end.answer


async def test_a_hostile_page_is_only_quoted() -> None:
    text = (Path(__file__).parents[1] / "fixtures" / "hostile_page.md").read_text(encoding="utf-8")
    world, end = await asked("What is the default timeout of a webhook?", [passage("p1", text), *PASSAGES[1:]])
    assert end.status == "answered"
    assert "12 seconds" in end.answer
    assert {item.tool for item in world.store.turns[0].tool_calls} == {"search_docs", "artifact_cat"}


async def test_cancel_ends_the_stream() -> None:
    engine = ExtractiveEngine()
    prompt = Prompt(messages=(PromptMessage(role="system"), PromptMessage(role="user", content="x")))
    kinds = []
    async for chunk in engine.generate(prompt, GenerateOptions()):
        kinds.append((chunk.kind, chunk.reason))
        await engine.cancel()
    assert kinds == [("text", None), ("end", "cancelled")]


def test_markdown_signs_of_a_page_are_shown_and_names_are_code() -> None:
    shown = markdown.prose("Set url_prefix or --no-edit, call run(), 2 * 3 * 4 < [x](y) <b>")
    assert shown == "Set `url_prefix` or `--no-edit`, call `run()`, 2 \\* 3 \\* 4 \\< \\[x\\](y) \\<b\\>"


@pytest.mark.cpython  # it reads sources; the page has compiled files
def test_no_word_of_any_documentation_is_in_the_engine() -> None:
    source = "".join(
        Path(module.__file__ or "").read_text(encoding="utf-8").lower()
        for module in (extractive, evidence, weighing, quoting, markdown)
    )
    for word in ("flask", "git ", "github", "jenkins", "openapi", "session", "cookie", "commit", "sqlite", "blueprint"):
        assert word not in source
