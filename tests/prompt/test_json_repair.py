"""Repair mends the JSON of a call; the content of its strings comes out as the model wrote it."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from py_agent.prompt.parsers.bad import BadCall
from py_agent.prompt.parsers.json_call import MAX_HEAD, could_be_call, load, parse_json_call
from py_agent.prompt.parsers.known import KnownTools

TOOLS = KnownTools({"f": ("q",)})

CONTENTS = [
    "}",
    '{"a": [1, 2}',
    "http://x/y // no comment /* nor this */ # nor this",
    "what's new, isn't it",
    'say "hi", then "bye": done',
    "line one\nline two\n\n\tend",
    "C:\\dir\\new \\ \\\\server",
    "é 日本 🚀 \u2028",
    "  spaces  ",
    "True, None and null",
    "```json\n{}\n```",
    "trailing comma,}",
    '"quoted"',
    "'quoted'",
    "“curly”",
    "",
    "\ue0000\ue000",
    "...",
    '<|"|>',
]


@pytest.mark.parametrize("content", CONTENTS)
def test_a_string_survives_every_repair(content: str) -> None:
    text = json.dumps(content)
    single = "'" + text[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
    raw = '"' + content.replace("\\", "\\\\").replace('"', '\\"') + '"'
    for written in (text, json.dumps(content, ensure_ascii=False), single, raw):
        for template in (
            '{"name": "f", "arguments": {"q": %s, "n": 3,},}',
            "{name: 'f', arguments: {q: %s, n: 3}}",
            "{'name': 'f', 'arguments': {'q': %s, 'n': 3}}",
            '{"name": "f" "arguments": {"q": %s "n": 3}}',
        ):
            try:
                call = parse_json_call(template % written, TOOLS, closed=False)
            except BadCall:
                # Refused is allowed where a guess would be needed; changed never is.
                assert template.startswith('{"name": "f" "arg')
                continue
            assert call.arguments == {"q": content, "n": 3}, template % written


@given(
    st.text(max_size=40), st.sampled_from(["{q: %s, n: [1, 2,]}", "{'q': %s, 'n': [1, 2]}", '{"q": %s, "n": [1, 2],}'])
)
def test_any_string_comes_out_as_it_went_in(content: str, template: str) -> None:
    content = content.encode("utf-8", "ignore").decode()
    assert load(template % json.dumps(content, ensure_ascii=False), closed=False) == {"q": content, "n": [1, 2]}


def test_words_and_numbers_have_the_types_of_json_or_python() -> None:
    value = load("{a: True, b: None, c: false, d: -1.5, e: 7, f: [null, 1e3],}", closed=False)
    assert value == {"a": True, "b": None, "c": False, "d": -1.5, "e": 7, "f": [None, 1000.0]}
    assert value["a"] is True
    assert type(value["e"]) is int


@pytest.mark.parametrize(
    "text",
    [
        '{"q": "say "hi", "bye" now"}',
        '{"q": "use "a": "b" here"}',
        '{"q": "open',
        '{"q": words without quotes}',
        '{"q": 1 2}',
        '{"q": x}',
        '{"q": open("/etc/hostname")}',
        '{"q": "a" + "b"}',
        '{"q": 0x10}',
        '{"q": NaN}',
        '{"q": 1e999}',
        '{"q": ' + "9" * 5_000 + "}",
        '{"q": ...}',
        '{"q": 1',
        '{"q": ' + "[" * 40 + "]" * 40 + "}",
        '{"q": ' + "[" * 50_000 + "]" * 50_000 + "}",
        "{" + "a: 1, " * 2_000 + "}",
    ],
)
def test_what_would_take_a_guess_is_refused(text: str) -> None:
    with pytest.raises(BadCall):
        load(text, closed=False)


def test_quotes_that_nobody_escaped_are_part_of_the_string_where_only_one_reading_is_left() -> None:
    assert load('{"q": "say "hi" now"}', closed=False) == {"q": 'say "hi" now'}
    assert load("{'q': 'don't stop'}", closed=False) == {"q": "don't stop"}


def test_missing_brackets_are_added_only_where_the_model_was_done() -> None:
    text = '{"name": "f", "arguments": {"q": "x"'
    assert parse_json_call(text, TOOLS, closed=True).arguments == {"q": "x"}
    with pytest.raises(BadCall):
        parse_json_call(text, TOOLS, closed=False)
    with pytest.raises(BadCall):
        parse_json_call('{"name": "f", "arguments": {"q": "x', TOOLS, closed=True)


@given(
    st.lists(
        st.sampled_from(
            ['"', "name", "f", "arguments", ":", "{", "}", " ", "tool", "x", ",", "'", "function", "\n", "q."]
        ),
        max_size=12,
    ).map(lambda parts: "{" + "".join(parts))
)
@example('{function:name"{')
def test_a_judgement_on_a_beginning_holds_for_the_whole(text: str) -> None:
    verdicts = [could_be_call(text[:size], TOOLS) for size in range(1, len(text) + 1)]
    decided = [verdict for verdict in verdicts if verdict is not None]
    assert len(set(decided)) <= 1
    assert None not in verdicts[verdicts.index(decided[0]) :] if decided else True
    assert could_be_call("{" + " " * MAX_HEAD + '"name": "f"', TOOLS) is False
