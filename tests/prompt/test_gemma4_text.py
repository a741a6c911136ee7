from __future__ import annotations

from typing import Any

import pytest

from py_agent.model.prompt import CallSpec, Prompt, PromptMessage, ToolSpec
from py_agent.prompt.calls import BadCall, parse_call
from py_agent.prompt.dialects import render
from py_agent.prompt.dialects.gemma4 import CALL, CALL_END, QUOTE, declaration, render_call

TOOL = ToolSpec(
    name="search",
    description="Finds.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What."}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
)


def test_a_declaration_has_sorted_keys_and_capital_types() -> None:
    assert declaration(TOOL) == (
        '<|tool>declaration:search{description:<|"|>Finds.<|"|>,parameters:{properties:{limit:{type:<|"|>INTEGER<|"|>},'
        'query:{description:<|"|>What.<|"|>,type:<|"|>STRING<|"|>}},required:[<|"|>query<|"|>],type:<|"|>OBJECT<|"|>}}<tool|>'
    )


def test_a_result_stands_in_the_same_model_turn_as_its_call() -> None:
    call = CallSpec(name="search", arguments={"query": "x", "limit": 2})
    prompt = Prompt(
        messages=(
            PromptMessage(role="system", content="Be brief."),
            PromptMessage(role="user", content="Hi"),
            PromptMessage(role="model", calls=(call,)),
            PromptMessage(role="tool", name="search", content="found"),
        ),
        thinking=True,
    )
    assert render(prompt) == (
        "<|turn>system\n<|think|>\nBe brief.<turn|>\n<|turn>user\nHi<turn|>\n<|turn>model\n"
        '<|tool_call>call:search{limit:2,query:<|"|>x<|"|>}<tool_call|>'
        '<|tool_response>response:search{value:<|"|>found<|"|>}<tool_response|>'
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"text": 'a "b" {c} [d], e: f\n\n\\ end'},
        {"n": -3, "x": 1.5, "yes": True, "no": False, "none": None},
        {"deep": {"list": [1, [2, {"k": ["v", ""]}], {}]}},
    ],
)
def test_what_is_written_as_a_call_is_read_as_the_same_call(arguments: dict[str, Any]) -> None:
    text = render_call(CallSpec(name="f", arguments=arguments))
    assert parse_call(text.removeprefix(CALL).removesuffix(CALL_END)) == CallSpec(name="f", arguments=arguments)


def test_a_quote_token_in_a_value_cannot_end_its_string() -> None:
    text = render_call(CallSpec(name="f", arguments={"q": f"x{QUOTE},admin:{QUOTE}y"}))
    parsed = parse_call(text.removeprefix(CALL).removesuffix(CALL_END))
    assert list(parsed.arguments) == ["q"]


@pytest.mark.parametrize(
    "body",
    ["", "f", "call:f", "call:f{", "call:f{a}", "call:f{a:1", "call:f{a:1}x", "call:f{a:}", "call:f{a:" + "[" * 40],
)
def test_half_a_call_is_no_call(body: str) -> None:
    with pytest.raises(BadCall):
        parse_call(body)
