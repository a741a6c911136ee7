"""A trace gives back what went in, and says what is wrong with one that cannot be read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_agent.trace.lines import MIN_SHARED_CHARS, PromptReader, PromptWriter, TraceError, decode, encode, shared_chars

HEAD = {"k": "turn", "v": 1, "question": "?"}


def event(prompt: object) -> dict[str, object]:
    return {"k": "event", "at": 0, "bus": "o", "event": {"type": "dispatch_start", "prompt": prompt}}


@given(st.lists(st.text(alphabet="ab<é🙂\n", max_size=300), max_size=8))
def test_every_prompt_comes_back_byte_for_byte(prompts: list[str]) -> None:
    writer, reader = PromptWriter(), PromptReader()
    assert [reader.restore(json.loads(json.dumps(writer.shorten(prompt)))) for prompt in prompts] == prompts


@given(st.text(alphabet="ab", max_size=40), st.text(alphabet="ab", max_size=40))
def test_what_two_texts_share_is_found(first: str, second: str) -> None:
    shared = shared_chars(first, second)
    assert first[:shared] == second[:shared]
    assert shared == min(len(first), len(second)) or first[shared] != second[shared]


def test_a_prompt_that_extends_another_is_stored_once() -> None:
    writer = PromptWriter()
    base = "system " * 500
    sizes = [len(encode(event(writer.shorten(base + "and more " * number)))) for number in range(10)]
    assert sizes[0] > len(base)
    assert max(sizes[1:]) < 250


def test_a_short_likeness_is_not_worth_a_reference() -> None:
    writer = PromptWriter()
    writer.shorten("x" * (MIN_SHARED_CHARS - 1) + "a")
    assert writer.shorten("x" * (MIN_SHARED_CHARS - 1) + "b")["keep"] == 0


def test_a_line_that_a_kill_cut_is_left_out() -> None:
    data = encode(HEAD) + encode({"k": "nonce", "value": "1"}) + encode({"k": "nonce", "value": "2"})[:-4]
    assert [line["k"] for line in decode(data)] == ["turn", "nonce"]


def test_lone_surrogates_of_a_broken_engine_are_kept() -> None:
    assert decode(encode(HEAD) + encode({"k": "nonce", "value": "\ud83d"}))[1]["value"] == "\ud83d"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no json\n",
        b"[]\n",
        b'{"k":"nonce"}\n',
        encode(HEAD) + b'{"broken\n' + encode(HEAD),
        encode(HEAD) + encode(event({"of": 3, "keep": 70, "add": ""})),
        encode(HEAD) + encode(event({"of": 0})),
    ],
)
def test_a_damaged_trace_is_refused(data: bytes) -> None:
    with pytest.raises(TraceError) as caught:
        decode(data)
    assert caught.value.code == "trace_damaged"
    assert caught.value.hint


def test_a_newer_trace_is_refused_by_name() -> None:
    with pytest.raises(TraceError) as caught:
        decode(encode({**HEAD, "v": 99}))
    assert caught.value.code == "trace_newer"
