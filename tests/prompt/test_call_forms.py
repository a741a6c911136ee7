"""The forms in which small models write calls: public failures as cases, each cut at every place."""

from __future__ import annotations

import codecs
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from py_agent.model.prompt import ToolSpec
from py_agent.prompt.splitter import MAX_PADS, Output, StreamSplitter

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
TOOLS = [ToolSpec(**tool) for tool in json.loads((CASES / "_tools.json").read_text(encoding="utf-8"))]

#: What a reader must never see while these cases stream.
NEVER_SHOWN = ("<|", "<channel", "secret", "The reader wants", "Search first", "\ufffd")

#: Characters of ordinary text that may be held back.
MAX_HELD = 24


def variants(*names: str) -> Iterator[Any]:
    for name in names:
        case = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
        for variant in case["variants"]:
            yield pytest.param(variant, id=f"{name}-{variant['name']}")


def feed(chunks: list[str], finish: str) -> tuple[Output, list[str]]:
    """The output, and what was visible after each chunk."""
    splitter = StreamSplitter(TOOLS)
    visible = [""]
    for chunk in chunks:
        text = "".join(piece.text for piece in splitter.feed(chunk) if piece.kind == "text")
        visible.append(visible[-1] + text)
    return splitter.finish(finish), visible


def cuts(text: str) -> Iterator[list[str]]:
    yield [text]
    yield list(text)
    yield [text[at : at + 2] for at in range(0, len(text), 2)]
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]


def check(output: Output, expect: dict[str, Any]) -> None:
    calls = [{"name": call.name, "arguments": call.arguments} for call in output.calls]
    assert json.dumps(calls) == json.dumps(expect["calls"])  # as text: 1, 1.0 and True are not the same
    if expect.get("text") is not None:
        assert output.text == expect["text"].encode("utf-16", "surrogatepass").decode("utf-16")
    for key in ("thinking", "truncated", "degenerate", "rejected"):
        if key in expect:
            assert getattr(output, key) == expect[key], key


ALL = list(variants("T01", "T03", "T05", "T07", "T11", "T15", "T17", "T19"))


@pytest.mark.parametrize("variant", ALL)
def test_a_case_gives_its_calls_and_its_text(variant: dict[str, Any]) -> None:
    output, _ = feed(variant["chunks"], variant["finish"])
    check(output, variant["expect"])


@pytest.mark.parametrize("variant", [case for case in ALL if case.id != "T19-pad_flood"])
def test_the_result_does_not_depend_on_how_the_stream_was_cut(variant: dict[str, Any]) -> None:
    text = "".join(variant["chunks"])
    for chunks in cuts(text):
        output, visible = feed(chunks, variant["finish"])
        check(output, variant["expect"])
        for before, after in itertools.pairwise(visible):
            assert after.startswith(before)
        expected = variant["expect"].get("text") or ""
        for bad in NEVER_SHOWN:
            assert bad in expected or bad not in visible[-1], chunks
        assert not any("\ud800" <= char <= "\udfff" for char in visible[-1])


@pytest.mark.parametrize("variant", list(variants("T15")))
def test_ordinary_text_is_not_held_back(variant: dict[str, Any]) -> None:
    if variant["name"] not in ("generic", "thought_then_text"):
        return
    for chunks in cuts("".join(variant["chunks"])):
        output, visible = feed(chunks, variant["finish"])
        assert len(output.text) - len(visible[-1]) <= MAX_HELD


def test_a_flood_of_filler_is_known_after_as_many_as_allowed() -> None:
    splitter = StreamSplitter(TOOLS)
    for number in range(1, MAX_PADS + 1):
        splitter.feed("<pad>")
        assert splitter.done == (number == MAX_PADS)


def test_bytes_one_at_a_time_never_show_half_a_character() -> None:
    text = "Café 日本 👩‍💻 ok"
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    output, visible = feed([decoder.decode(bytes([byte])) for byte in text.encode()], "stop")
    assert output.text == text
    assert all(text.startswith(seen) for seen in visible)


# (what the model writes, the calls, what the reader sees)
FORMS = {
    "bare native": (
        'Let me look.\ncall:search_docs{query:"ports",limit:2}',
        [("search_docs", {"query": "ports", "limit": 2})],
        "Let me look.",
    ),
    "bare native, native quotes, then text": (
        'call:search_docs{query:<|"|>a } b<|"|>}\nOne moment.',
        [("search_docs", {"query": "a } b"})],
        "One moment.",
    ),
    "name and braces": ('search_docs{query:"ports"}', [("search_docs", {"query": "ports"})], ""),
    "pythonic alone": ("search_docs(query='ports', limit=3)", [("search_docs", {"query": "ports", "limit": 3})], ""),
    "pythonic, positional": ('search_docs("ports")', [("search_docs", {"query": "ports"})], ""),
    "pythonic list": (
        '[search_docs(query="a"), get_current_time()]',
        [("search_docs", {"query": "a"}), ("get_current_time", {})],
        "",
    ),
    "keyed": (
        "search_docs\nquery: how to set a port\nlimit: 3\n",
        [("search_docs", {"query": "how to set a port", "limit": "3"})],
        "",
    ),
    "keyed, lead-in": ("I search.\n\nsearch_docs\nquery: ports", [("search_docs", {"query": "ports"})], "I search."),
    "json arguments as text": (
        '{"name": "search_docs", "arguments": "{\\"query\\": \\"ports\\"}"}',
        [("search_docs", {"query": "ports"})],
        "",
    ),
    "json, openai's nesting": (
        '{"type": "function", "function": {"name": "search_docs", "arguments": {"query": "x"}}}',
        [("search_docs", {"query": "x"})],
        "",
    ),
    "marks with another form in them": (
        '<tool_call>search_docs(query="x")</tool_call>',
        [("search_docs", {"query": "x"})],
        "",
    ),
    "chatml and its stop": (
        '<tool_call>\n{"name": "search_docs", "arguments": {"query": "x"}}\n</tool_call><|im_end|>\n<|im_start|>user',
        [("search_docs", {"query": "x"})],
        "",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_gives_its_calls_whatever_the_cut(name: str) -> None:
    text, calls, shown = FORMS[name]
    for chunks in cuts(text):
        output, _ = feed(chunks, "stop")
        assert [(call.name, call.arguments) for call in output.calls] == calls, chunks
        assert output.text == shown, chunks
    assert calls or output.bad_calls


# What looks like a call and is none: it stays visible, character for character.
NO_CALLS = {
    "an object of the docs": '{"name": "my-package", "version": "1.0"}',
    "an object of the docs in a fence": '```json\n{"name": "my-package", "version": "1.0"}\n```',
    "a call of an unknown tool in a fence": '```json\n{"name": "delete_all", "arguments": {}}\n```',
    "two objects in a fence": '```json\n{"name": "search_docs", "arguments": {}}\n{"a": 1}\n```',
    "a call in a fence of another language": '```js\nsearch_docs({query: "x"})\n```',
    "a call in a sentence": "Use call:search_docs{query:1} to search.",
    "a function of the docs": "search_docs(query) is a function. It takes a query.",
    "a name of a tool": "search_docs",
    "a name in a sentence": "calculate the total, then go on.",
    "a list": "[a link](https://example.org) and [another].",
    "a list of numbers": "[1, 2, 3]",
    "call as a word": "call: the operator\ncall:me maybe",
    "code that is more than calls": "```tool_code\nimport os\nos.remove('x')\n```",
    "a heading and lines": "read_page\n\nThis page is about pages.",
    "a table": "| a | b |\n|---|---|\n| `{` | `}` |",
    "json and then text": '{"name": "search_docs", "arguments": {"query": "x"}}\n\nThat is how a call looks.',
}


@pytest.mark.parametrize("name", NO_CALLS)
def test_what_is_no_call_stays_as_it_is(name: str) -> None:
    text = NO_CALLS[name]
    for chunks in cuts(text):
        output, _ = feed(chunks, "stop")
        assert output.calls == [], chunks
        assert output.text == text.strip(), chunks


CUT = [
    '<tool_call>{"name": "search_docs", "arguments": {"query": "how do',
    '```json\n{"name": "search_docs", "arguments": {"query": "how do"}',
    '{"name": "search_docs", "arguments": {"query": "how',
    "search_docs(query='how do",
    'search_docs{query:"how do',
    'call:search_docs{query:<|"|>how do',
    "```tool_code\nsearch_docs(query='a')\nsearch_docs(que",
]


@pytest.mark.parametrize("text", CUT)
def test_a_call_that_the_limit_cut_never_runs_and_is_not_shown(text: str) -> None:
    for chunks in cuts(text):
        output, _ = feed(chunks, "length")
        assert output.calls == [], chunks
        assert output.truncated, chunks
        assert output.text == "", chunks


STRINGS = [
    'Set {"cache": {"ttl": 60}} in x.json',
    "what's new // not a comment, see https://example.org/#a",
    "True, None, null and trailing,}",
    "Run:\nlantern init\n\n\tthen open",
    'He said "hi" there',
    "C:\\new\\table and \\d+",
    "ünï 🙂 漢字",
    "`code` ```fence``` [x]",
    "key: value, other: {a: 1}",
]


@pytest.mark.parametrize("value", STRINGS)
@pytest.mark.parametrize("form", ["trailing comma", "bare keys", "python words"])
def test_a_repair_never_changes_what_a_string_says(value: str, form: str) -> None:
    quoted = json.dumps(value, ensure_ascii=False)
    text = {
        "trailing comma": f'{{"name": "search_docs", "arguments": {{"query": {quoted},}},}}',
        "bare keys": f"{{name: 'search_docs', arguments: {{query: {quoted}}}}}",
        "python words": f'{{"name": "search_docs", "arguments": {{"query": {quoted}, "exact": True}}}}',
    }[form]
    output, _ = feed([text], "stop")
    assert output.calls[0].arguments["query"] == value


@pytest.mark.parametrize("value", STRINGS)
def test_quotes_that_nobody_escaped_are_read_right_or_not_at_all(value: str) -> None:
    raw = value.replace("\\", "\\\\")
    output, _ = feed([f'{{"name": "search_docs", "arguments": {{"query": "{raw}"}}}}'], "stop")
    assert [call.arguments for call in output.calls] in ([{"query": value}], [])
    assert output.calls or value == STRINGS[0]


DEEP = [
    "[" * 100_000,
    '{"name": "search_docs", "arguments": ' + "[" * 100_000,
    '{"name": "search_docs", "arguments": {"query": ' + '{"a": ' * 5_000 + "1" + "}" * 5_000 + "}}",
    "search_docs(" + "(" * 10_000,
    "search_docs(query=" + "(" * 5_000 + "1" + ")" * 5_000 + ")",
    "search_docs(query=" + "-" * 20_000 + "1)",
    "search_docs(query=" + "not " * 9_000 + "1)",
    "search_docs(query=" + "2**" * 9_000 + "1)",
    "search_docs(query=" + "1 if 1 else " * 3_000 + "1)",
    "search_docs(query=" + "lambda: " * 4_000 + "1)",
    "search_docs(query=" + "1+" * 15_000 + "1)",
    "search_docs(query=" + "a." * 15_000 + "a)",
    "search_docs(query=" + "f(" * 60 + ")" * 60 + ")",
    "call:search_docs{query:" + "[" * 50_000,
    "<tool_call>" + "[" * 100_000 + "</tool_call>",
    "{name: 'search_docs', arguments: " + "[" * 50_000,
]


@pytest.mark.parametrize("form", ["bare", "tool_code", "json"])
@pytest.mark.parametrize("number", range(len(DEEP)))
def test_text_that_nests_without_end_is_no_call_and_kills_nobody(number: int, form: str) -> None:
    text = DEEP[number] if form == "bare" else f"```{form}\n{DEEP[number]}\n```"
    output, _ = feed([text], "stop")
    assert output.calls == []
