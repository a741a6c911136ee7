from __future__ import annotations

from collections.abc import Iterator

import pytest

from py_agent.prompt.splitter import MAX_PADS, Output, StreamSplitter

Q = '<|"|>'
ANSWER = 'Set {"a": {"b": 60}} in x.json, then:\n\n    make <tool_call|> --no-cache\n\nSee "Caching", part 2.'

# (what the model writes, text, thinking, calls)
STREAMS = {
    "thought, then prose with a lone <": (
        "<|channel>thought\nThe reader wants X.<channel|>Use a < b when 1 <2.",
        "Use a < b when 1 <2.",
        "The reader wants X.",
        [],
    ),
    "thought, then a call": (
        f"<|channel>thought\nSearch first.<channel|><|tool_call>call:search_docs{{query:{Q}x{Q}}}<tool_call|>",
        "",
        "Search first.",
        [("search_docs", {"query": "x"})],
    ),
    "code, quotes and the end marker inside a string": (
        f"<|tool_call>call:provide_answer{{answer:{Q}{ANSWER}{Q},sources:[{Q}p1{Q},{Q}p2{Q}]}}<tool_call|>",
        "",
        "",
        [("provide_answer", {"answer": ANSWER, "sources": ["p1", "p2"]})],
    ),
    "nested objects and lists": (
        f"<|tool_call>call:f{{a:{{First stage:{{n:2,ok:true,none:null}}}},b:[{{p:{Q}}}x{Q}}},-1.5]}}<tool_call|>",
        "",
        "",
        [("f", {"a": {"First stage": {"n": 2, "ok": True, "none": None}}, "b": [{"p": "}x"}, -1.5]})],
    ),
    "two calls": (
        f"<|tool_call>call:a{{q:{Q}1,2{Q}}}<tool_call|><|tool_call>call:b{{n:3}}<tool_call|>",
        "",
        "",
        [("a", {"q": "1,2"}), ("b", {"n": 3})],
    ),
    "an example in a fence, then a real call": (
        f"So:\n\n```\n<|tool_call>call:a{{}}<tool_call|>\n```\n<|tool_call>call:b{{q:{Q}x{Q}}}<tool_call|>",
        "So:\n\n```\n<|tool_call>call:a{}<tool_call|>\n```",
        "",
        [("b", {"q": "x"})],
    ),
    "an example in inline code": (
        "It ends with `<end_of_turn>` and `<|tool_call>`; copy that.",
        "It ends with `<end_of_turn>` and `<|tool_call>`; copy that.",
        "",
        [],
    ),
    "the model plays the reader": ("Hello!<turn|>\n<|turn>user\nAnd now?", "Hello!", "", []),
    "leaked tokens": ("<bos>Hello<pad>!<end_of_turn><eos>", "Hello!", "", []),
    "generic types": (
        "List<String> and <T extends U>; see <code>.",
        "List<String> and <T extends U>; see <code>.",
        "",
        [],
    ),
    "a marker cut off by the end": ("Done. <|tool_c", "Done.", "", []),
    "a doubled name": (
        "<|tool_call>call:docs:find:find{q: 'a, b'}<tool_call|>",
        "",
        "",
        [("find", {"q": "a, b"})],
    ),
}


def cuts(text: str) -> Iterator[list[str]]:
    yield [text]
    yield list(text)
    yield [text[at : at + 2] for at in range(0, len(text), 2)]
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]


def split(chunks: list[str], reason: str = "stop") -> tuple[Output, str]:
    splitter = StreamSplitter()
    visible = "".join(piece.text for chunk in chunks for piece in splitter.feed(chunk) if piece.kind == "text")
    return splitter.finish(reason), visible


@pytest.mark.parametrize("name", STREAMS)
def test_every_cut_of_a_stream_gives_the_same_output(name: str) -> None:
    stream, text, thinking, calls = STREAMS[name]
    for chunks in cuts(stream):
        output, visible = split(chunks)
        assert output.text == text, chunks
        assert output.thinking == thinking, chunks
        assert [(call.name, call.arguments) for call in output.calls] == calls, chunks
        assert output.text.startswith(visible.strip()), chunks


@pytest.mark.parametrize(
    "stream",
    [
        f"Searching. <|tool_call>call:search_docs{{query:{Q}how do I conf",
        f"Searching. <|tool_call>call:search_docs{{query:{Q}port{Q}}}",
    ],
)
def test_a_call_that_the_token_limit_cut_never_counts(stream: str) -> None:
    for chunks in cuts(stream):
        output, visible = split(chunks, "length")
        assert (output.calls, output.truncated, output.text) == ([], True, "Searching.")
        assert "<|" not in visible


def test_a_complete_call_without_its_closing_marker_counts_when_the_model_stopped_by_itself() -> None:
    output, _ = split([f"<|tool_call>call:search_docs{{query:{Q}port{Q}}}"])
    assert [call.arguments for call in output.calls] == [{"query": "port"}]
    output, _ = split([f"<|tool_call>call:search_docs{{query:{Q}por"])
    assert output.calls == []
    assert output.truncated


def test_a_call_that_makes_no_sense_is_reported_and_not_run() -> None:
    output, _ = split(["<|tool_call>search the docs please<tool_call|>"])
    assert output.calls == []
    assert "call:NAME" in output.bad_calls[0]


def test_a_flood_of_filler_tokens_is_noticed_before_it_ends() -> None:
    splitter = StreamSplitter()
    count = 0
    while count < 10 * MAX_PADS:
        splitter.feed("<pad>")
        count += 1
        if splitter.done:
            break
    assert splitter.output.degenerate
    assert count <= MAX_PADS


def test_prose_is_held_back_only_while_it_could_be_a_marker() -> None:
    splitter = StreamSplitter()
    shown = "".join(piece.text for piece in splitter.feed("Use List<String> and a < b <t"))
    assert shown == "Use List<String> and a < b "
