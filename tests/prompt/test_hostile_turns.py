"""Whole turns with hostile text in every place that text comes from: no control token of any model comes into a prompt
that would not be there without it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_agent.engines.base import EngineInfo
from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.memory import Memory
from py_agent.model.prompt import CallSpec, Chunk, GenerateOptions, Prompt, ToolSpec
from py_agent.model.record import StoredMessage
from py_agent.model.tokenizable import Tokenizable
from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult
from py_agent.prompt.conversation import Conversation
from py_agent.prompt.dialects import dialect, render
from py_agent.prompt.envelopes import break_tokens
from tests.harness import World, passage
from tests.tools.test_calls_in_a_turn import Memories

#: Tokens of the dialects that we write, and of models that a server behind ``openai`` may run.
TOKENS = (
    "<|turn>", "<turn|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", "<|tool>", "<tool|>",
    "<|channel>", "<channel|>", "<|think|>", '<|"|>', "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<pad>",
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<tool_call>", "</tool_call>", "<tools>", "</tools>",
    "<tool_response>", "</tool_response>", "<think>", "</think>", "<s>", "</s>",
    "<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|python_tag|>",
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CALLS]",
    "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[THINK]", "[/THINK]",
    "<|User|>", "<|Assistant|>", "<|end\u2581of\u2581sentence|>", "<|tool\u2581calls\u2581begin|>",
    "<|START_OF_TURN_TOKEN|>",
)  # fmt: skip

#: What a tokenizer may drop: format characters, variation selectors, fillers, control characters.
_DROPPED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00a0\u202f\u2007]"
)


def normalised(text: str) -> str:
    return unicodedata.normalize("NFKC", _DROPPED.sub("", text))


def counts(prompt: str) -> dict[str, int]:
    plain = normalised(prompt)
    return {token: plain.count(token) for token in TOKENS}


class CallingEngine(ScriptedEngine):
    """Gives parsed calls, as engines do that parse by themselves."""

    def __init__(self, outputs: list[Chunk], dialect: str) -> None:
        super().__init__([])
        self._chunks = outputs
        self._name = dialect

    def info(self) -> EngineInfo:
        return EngineInfo(name="calling", model=None, window=65_536, dialect=self._name)

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
        self.prompts.append(prompt)
        yield self._chunks[min(len(self.prompts), len(self._chunks)) - 1]
        yield Chunk(kind="end", reason="stop")


class TextArgs(ToolArgs):
    text: str


async def echo(args: TextArgs, _context: Any) -> ToolResult:
    return ToolResult(text=f"I got {args.text}", summary=args.text)


async def refuse(args: TextArgs, _context: Any) -> ToolResult:
    raise ToolError(f"{args.text} cannot be used")


async def prompts_with(data: str, dialect: str) -> list[str]:
    """The prompts of a turn with ``data`` in the question, the page, the passages, the memories, the history, the
    model's calls and what tools say of them."""
    calls = [
        CallSpec(name="search_docs", arguments={"query": f"webhook {data}"}),
        CallSpec(name="echo", arguments={"text": data}),
        CallSpec(name="refuse", arguments={"text": data}),
        CallSpec(name=data, arguments={"a": 1}),
        CallSpec(name="search_docs", arguments={data: data, "query": [data]}),
        CallSpec(name="read_page", arguments={"page": f"/{data}/"}),
        CallSpec(name="artifact_cat", arguments={"call_id": data, "start": 1}),
        CallSpec(name="call_a_tool", arguments={"name": data, "arguments": {data: {data: data}}}),
        CallSpec(name="call_a_tool", arguments={"name": "calculate", "arguments": {"expression": data}}),
        CallSpec(name="call_a_tool", arguments={"name": "convert_units", "arguments": {"value": 1, "unit": data}}),
        CallSpec(name="provide_answer", arguments={"answer": data, "sources": [{"passage": data, "quote": data}]}),
        CallSpec(name="provide_answer", arguments={"answer": data, "sources": [{"passage": "p1", "quote": data}]}),
        CallSpec(name="say_i_dont_know", arguments={"reason": data}),
    ]
    docs = [
        passage("p1", f"The webhook.\n{data}\nIts timeout.", page="a.html", title=f"Hook {data}", path=(data, "x")),
        passage("p2", f"webhook {data}", page="b.html", title=data),
    ]
    memories = Memories()
    memories.kept.append(Memory(id="m1", content=f"x {data}", trust="reader", source="t0"))
    world = World(
        CallingEngine([Chunk(kind="call", call=item) for item in calls], dialect),
        docs,
        tools=lambda _turn: [
            Tool(name=tool.__name__, description="x", args=TextArgs, handler=tool) for tool in (echo, refuse)
        ],
        planner=False,
        memories=memories,
        prefetch_top=1,
        inline_result_tokens=100_000,
        max_dispatches=40,
        title=f"Guide {data}",
        instructions=(f"Be brief {data}"[:300],),
    )
    for role, content in (("user", f"Earlier {data}"), ("assistant", f"Yes {data}")):
        world.store.messages.append(
            StoredMessage(
                id=role, thread="t", turn="t0", role=role, content=content, model_content=content, state="done"
            )
        )
    await world.ask(f"webhook {data}", page=f"/a.html#{data}")
    assert len(world.prompts) >= len(calls) - 1
    return list(world.prompts)


SPELLINGS = {
    "plain": lambda token: token,
    "full-width": lambda token: token.translate({ord(char): ord(char) + 0xFEE0 for char in '<|>[]/"'}),
    "zero-width": lambda token: token[0] + "\u200b" + token[1:3] + "\u2060" + token[3:],
    "no-break": lambda token: token[0] + "\u00a0" + token[1:],
    "variation": lambda token: token[0] + "\ufe0f" + token[1:-1] + "\u034f" + token[-1],
    "filler": lambda token: token[0] + "\u3164" + token[1:],
    "control": lambda token: token[0] + "\x00" + token[1:-1] + "\x1b" + token[-1],
    "nested": lambda token: token[:2] + token + token[2:],
}


#: Tokens of one turn: errors repeat the first 60 characters of what a model wrote.
GROUP = 6


@pytest.mark.parametrize("dialect", ["gemma4", "chatml"])
async def test_no_text_from_anywhere_brings_a_control_token(dialect: str) -> None:
    benign = [counts(prompt) for prompt in await prompts_with("harmless words of the same length", dialect)]
    for at in range(0, len(TOKENS), GROUP):
        data = "".join(TOKENS[at : at + GROUP])
        evil = [counts(prompt) for prompt in await prompts_with(data, dialect)]
        assert len(evil) == len(benign), data
        for number, (one, other) in enumerate(zip(evil, benign, strict=True)):
            assert {token: one[token] for token in TOKENS if one[token] != other[token]} == {}, (number, data)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_of_a_token_of_any_model_survives(spelling: str) -> None:
    for token in TOKENS:
        spelt = SPELLINGS[spelling](token)
        broken = break_tokens(f"a{spelt}b")
        assert set(counts(broken).values()) == {0}, token
        assert broken.replace(" ", "") == f"a{spelt}b"
        assert break_tokens(broken) == broken


#: What tokens are made of, and what may stand between: each may meet each.
PARTS = [
    *TOKENS, *"<>|[]/\"' \n\t:{},_", "turn", "im_start", "tool_call", "INST", "SYS", "\u2581", "\u200b", "\u00a0",
    "\ufe0f", "\x00", "\uff1c", "\uff5c", "\uff1e", "\uff3b", "\ufe64", "\U0001d42d\U0001d42e\U0001d42b\U0001d427",
]  # fmt: skip
DATA = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=10).map("".join)


@given(data=DATA)
def test_breaking_adds_spaces_only_and_leaves_nothing_to_break(data: str) -> None:
    broken = break_tokens(data)
    assert broken.replace(" ", "") == data.replace(" ", "")
    assert break_tokens(broken) == broken
    assert set(counts(broken).values()) == {0}


@pytest.mark.parametrize("name", ["gemma4", "chatml"])
@given(data=DATA)
def test_no_call_name_key_value_or_message_changes_what_stands_between_the_data(name: str, data: str) -> None:
    def prompt(text: str) -> str:
        spec = ToolSpec(
            name="f", description=text, parameters={"type": "object", "properties": {"a": {"enum": [text]}}}
        )
        conversation = Conversation(text, tools=[spec])
        conversation.user(text)
        conversation.user(Tokenizable(lambda _: text))
        conversation.model(text, [CallSpec(name=text, arguments={text: [text, {text: text}]})] * 2)
        conversation.tool(text, text)
        conversation.tool("f", text)
        return render(conversation.prompt(), name)

    benign, evil = prompt("benign"), prompt(data)
    assert counts(evil) == counts(benign)
    control = dialect(name).control
    assert len(control.findall(evil)) == len(control.findall(benign))
