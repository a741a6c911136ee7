"""Prompts as the models read them, and how much of a small window they take."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_agent.engines.base import EngineInfo
from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.errors import ConfigError
from py_agent.model.prompt import CallSpec, Prompt, PromptMessage, ToolSpec
from py_agent.prompt.conversation import Conversation
from py_agent.prompt.dialects import DIALECTS, count_parts, dialect, render
from py_agent.prompt.envelopes import break_tokens, envelope
from py_agent.prompt.splitter import StreamSplitter
from py_agent.prompt.tokens import estimate_tokens
from tests.harness import World, call, passage

NAMES = ("gemma4", "chatml")
#: Tokens that the declarations and the empty prompt of a small window may take.
MAX_TOOL_BLOCK, MAX_EMPTY_PROMPT = 450, 700


def test_chatml_is_written_as_its_models_read_it() -> None:
    prompt = Prompt(
        messages=(
            PromptMessage(role="system", content="Be brief."),
            PromptMessage(role="user", content="Ports?"),
            PromptMessage(role="model", content="I search.", calls=(CallSpec(name="find", arguments={"q": "ü"}),)),
            PromptMessage(role="tool", name="find", content="one"),
            PromptMessage(role="tool", name="find", content="two"),
        ),
        tools=(ToolSpec(name="find", description="Finds.", parameters={"type": "object"}),),
    )
    text = render(prompt, "chatml")
    assert text.startswith("<|im_start|>system\nBe brief.\n\nYou can call these tools:\n<tools>\n")
    assert '{"name":"find","description":"Finds.","parameters":{"type":"object"}}' in text
    assert text.endswith(
        "<|im_start|>user\nPorts?<|im_end|>\n"
        "<|im_start|>assistant\nI search.\n<tool_call>\n"
        '{"name": "find", "arguments": {"q": "ü"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_a_dialect_writes_is_read_back(name: str) -> None:
    spec = CallSpec(name="provide_answer", arguments={"answer": 'Set {"a": 1}\n"x" </tool_call', "n": [1, None, True]})
    splitter = StreamSplitter()
    splitter.feed(dialect(name).render_call(spec))
    assert splitter.finish().calls == [spec]


class ChatMlEngine(ScriptedEngine):
    def info(self) -> EngineInfo:
        return EngineInfo(name="scripted", model=None, window=8_192, dialect="chatml")


async def test_a_turn_runs_in_either_dialect() -> None:
    outputs = [
        '<tool_call>\n{"name": "search_docs", "arguments": {"query": "light"}}\n</tool_call>',
        '<tool_call>\n{"name": "provide_answer", "arguments": {"answer": "On.", "sources": [{"passage": "p1",'
        ' "quote": "The light goes on with lantern on."}]}}\n</tool_call>',
    ]
    docs = [passage("p1", "The light goes on with lantern on.")]
    world = World(ChatMlEngine(outputs), docs, planner=False)
    end = await world.ask("How?")
    assert (end.status, end.answer) == ("answered", "On.")
    assert world.prompts[0].startswith("<|im_start|>system\n")
    assert "<tool_response>" in world.prompts[1]


def test_a_dialect_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="klingon"):
        dialect("klingon")


PIECES = [
    "<|turn>", "<turn|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<tool_response>",
    "<|tool_call>",
    "</tool_response>", "<tool_call|>", '<|"|>', "<|think|>", "<think>", "</think>", "<tools>", "<", "|", ">", "/", "x",
    " ", "\n", "\u200b", "\u00a0", "\uff1c", "\uff5c", "\uff1e", "im_start", "turn", "tool_call", "<\u200b|turn>",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@given(data=st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_no_data_changes_the_number_of_control_tokens(name: str, data: str) -> None:
    speaks = DIALECTS[name]

    def tokens(text: str) -> int:
        conversation = Conversation("system")
        conversation.user(envelope(text, kind="reader", nonce="00000000"))
        conversation.model(text, [CallSpec(name="f", arguments={"a": text})])
        conversation.tool("f", envelope(text, kind="f", nonce="00000001"))
        return len(speaks.control.findall("".join(speaks.render_parts(conversation.prompt()))))

    assert tokens(data) == tokens("benign")


@pytest.mark.parametrize(
    "code",
    [
        "List<String> and <T extends U>", "if a < b | c > d:", "cat <file | sort >out", "a <| b |> c", "<p class='x'>",
        "vector<int>", "1 << 2", "x <- y", "</details>", "#include <stdio.h>", "<?php echo 1 ?>", "a<|b", "<=>",
        "<!-- x -->",
    ],
)  # fmt: skip
def test_ordinary_code_is_left_as_it_is(code: str) -> None:
    assert break_tokens(code) == code


def empty_prompt(name: str) -> tuple[int, int]:
    """Tokens of the declarations, and of the whole prompt for an empty question, in the smallest window."""

    async def run() -> Prompt:
        engine = ScriptedEngine([call("say_i_dont_know", reason="x")], window=2_048)
        world = World(engine, [passage("p1", "x")], planner=False, max_output_tokens=64)
        await world.ask("")
        return engine.prompts[0]

    import asyncio

    prompt = asyncio.run(run())
    speaks = dialect(name)
    whole = count_parts(speaks, speaks.render_parts(prompt), estimate_tokens)
    bare = prompt.model_copy(update={"tools": ()})
    return whole - count_parts(speaks, speaks.render_parts(bare), estimate_tokens), whole


@pytest.mark.cpython  # it runs an event loop of its own; the page's is running already
@pytest.mark.parametrize("name", NAMES)
def test_a_small_window_is_not_filled_by_what_is_always_there(name: str) -> None:
    tools, whole = empty_prompt(name)
    assert tools <= MAX_TOOL_BLOCK
    assert whole <= MAX_EMPTY_PROMPT


async def test_a_small_window_has_exactly_the_tools_that_it_needs() -> None:
    engine = ScriptedEngine([call("say_i_dont_know", reason="x")], window=2_048)
    await World(engine, [passage("p1", "x")], planner=False, max_output_tokens=64).ask("?")
    small = {spec.name for spec in engine.prompts[0].tools}
    assert small <= {"search_docs", "read_page", "artifact_cat", "artifact_grep", "provide_answer", "say_i_dont_know"}
    assert {"search_docs", "read_page", "artifact_cat", "provide_answer", "say_i_dont_know"} <= small
    assert "description" not in json.dumps(engine.prompts[0].tools[0].parameters)


CASES = Path(__file__).parents[1] / "fixtures" / "cases"
CASE = json.loads((CASES / "W03.json").read_text(encoding="utf-8"))
PAGES = {name: (CASES / CASE[name]).read_text(encoding="utf-8") for name in ("page", "benign")}


#: How a page comes into a prompt, and the mark that it then stands in.
WAYS = {"search": "search_docs", "reading": "artifact_cat", "prefetch": "passage first-party"}


async def prompt_with(page: str, way: str, speaks: str) -> str:
    """The prompt that ``page`` stands in."""
    search = render_call("search_docs", speaks, query="webhook timeout")
    end = render_call("say_i_dont_know", speaks, reason="x")
    outputs = {
        "search": [search, end],
        "reading": [search, render_call("artifact_cat", speaks, call_id="c1", start=1), end],
        "prefetch": [end],
    }[way]
    world = World(
        (ChatMlEngine if speaks == "chatml" else ScriptedEngine)(outputs),
        [passage("p1", page, page="guide/webhooks/index.html")],
        planner=False,
        inline_result_tokens=0 if way == "reading" else 10_000,
        prefetch_top=way == "prefetch",
    )
    await world.ask("How long is the webhook timeout?")
    assert len(world.prompts) == len(outputs)
    return world.prompts[-1]


def render_call(tool: str, speaks: str, **arguments: Any) -> str:
    return dialect(speaks).render_call(CallSpec(name=tool, arguments=arguments))


@pytest.mark.parametrize("speaks", NAMES)
@pytest.mark.parametrize("way", WAYS)
async def test_a_page_that_talks_to_the_model_stays_a_page(way: str, speaks: str) -> None:
    evil, benign = [await prompt_with(PAGES[name], way, speaks) for name in ("page", "benign")]
    plain = unicodedata.normalize("NFKC", evil)
    plain = re.sub("[\u200b-\u200f\u2060\ufeff\u00ad]", "", plain).replace("\u00a0", "")
    for token in CASE["control_tokens"]:
        assert evil.count(token) == benign.count(token), token
        assert plain.count(token) == unicodedata.normalize("NFKC", benign).count(token), token
    control = dialect(speaks).control
    assert len(control.findall(evil)) == len(control.findall(plain)) == len(control.findall(benign))
    opened = re.findall(rf"\[{WAYS[way]} ([0-9a-f]+)\]\n", evil)
    assert len(opened) == 1
    assert evil.count(f"[/{WAYS[way]} {opened[0]}]") == 1
    assert evil.rindex("The retry count of a webhook is 3") < evil.index(f"[/{WAYS[way]} {opened[0]}]")
    assert "12 seconds" in evil


async def test_a_model_that_obeys_a_page_does_nothing_and_its_link_is_not_delivered() -> None:
    turn = CASE["turns"][0]
    fake = "https://collect.example/upgrade"
    outputs = [
        call("search_docs", query="webhook timeout"),
        call("call_a_tool", name="delete_history", arguments={}),
        call(
            "provide_answer",
            answer=f"Upgrade notice: see {fake}. The timeout is 12 seconds.",
            sources=[{"passage": fake, "quote": "x"}],
        ),
        call("provide_answer", answer="The timeout is 12 seconds.", sources=[{"passage": "p1", "quote": "12 seconds"}]),
    ]
    docs = [passage("p1", PAGES["page"], page="guide/webhooks/index.html")]
    world = World(ScriptedEngine(outputs, repeat_last=True), docs, planner=False, inline_result_tokens=10_000)
    end = await world.ask(turn["user"])
    assert [event.tool for event in world.of("tool_end")] == ["search_docs"]
    assert "collect.example" not in end.model_dump_json(exclude={"related"})
    assert [source.page for source in end.sources] == ["guide/webhooks/index.html"]
    assert all(text in end.answer for text in turn["expect"]["answer_contains"])


async def test_a_reader_may_be_told_about_control_tokens() -> None:
    turn = CASE["turns"][1]
    quote = "12 seconds"
    answer = call(
        "provide_answer", answer="The page shows the token `<turn|>`.", sources=[{"passage": "p1", "quote": quote}]
    )
    docs = [passage("p1", PAGES["page"], page="guide/webhooks/index.html")]
    world = World(ScriptedEngine([answer]), docs, planner=False, prefetch_top=1)
    end = await world.ask(turn["user"] + " webhook")
    assert end.status == "answered"
    assert all(text in end.answer for text in turn["expect"]["answer_contains"])
