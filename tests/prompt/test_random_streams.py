"""Whatever a model writes: no crash, no call that is none, no lost text, and never a different result by the cut."""

from __future__ import annotations

import itertools
import json
import time

from hypothesis import given
from hypothesis import strategies as st

from py_agent.prompt.splitter import Output, StreamSplitter
from tests.prompt.test_call_forms import TOOLS

Q = '<|"|>'
#: What models write, and what is left of it when something goes wrong.
FRAGMENTS = [
    "word ", "two words", "\n", "\n\n", "    ", "`", "```", "```\n", "```json\n", "```tool_code\n", "```py\n", "~~~\n",
    "<", "<|", "<|tool_call>", "<tool_call|>", "<tool_call>", "</tool_call>", "<|channel>thought\n", "<channel|>",
    "<think>", "</think>", "<turn|>", "<eos>", "<pad>", "<|im_end|>", Q, "call:", "call:search_docs", "search_docs",
    "search_docs(", "search_docs\n", "query: ports\n", "{", "}", "(", ")", "[", "]", ",", ":", '"', "'", "\\",
    f"{{query:{Q}ports{Q}}}", '{query:"a } b"}', "(query='ports')", '{"name": "search_docs", "arguments": {',
    '"query": "ports"}}', "{'name': 'search_docs', 'arguments': {}}", "print(", "🙂", "\ud83d", "\ude00", "é",
]  # fmt: skip
STREAMS = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)
REASONS = st.sampled_from(["stop", "length"])


def run(chunks: list[str], reason: str) -> tuple[Output, list[str]]:
    splitter = StreamSplitter(TOOLS)
    visible = [""]
    for chunk in chunks:
        visible.append(visible[-1] + "".join(piece.text for piece in splitter.feed(chunk) if piece.kind == "text"))
    return splitter.finish(reason), visible


@given(STREAMS, REASONS, st.integers(1, 7))
def test_a_stream_gives_the_same_whatever_its_cut(text: str, reason: str, size: int) -> None:
    whole, _ = run([text], reason)
    pieces, visible = run([text[at : at + size] for at in range(0, len(text), size)], reason)
    assert pieces == whole
    for before, after in itertools.pairwise(visible):
        assert after.startswith(before)
    # What the reader has seen stays; only white space at the ends goes.
    assert whole.text.startswith(visible[-1].strip()) or visible[-1].strip() == whole.text


@given(STREAMS)
def test_a_stream_that_the_limit_cut_has_no_call_that_the_whole_stream_has_not(text: str) -> None:
    cut, _ = run([text], "length")
    whole, _ = run([text], "stop")
    assert len(cut.calls) <= len(whole.calls)
    assert all(call in whole.calls for call in cut.calls)


@given(STREAMS)
def test_calls_without_marks_are_calls_of_known_tools_only(text: str) -> None:
    unmarked = text.replace("<|tool_call>", "").replace("<tool_call>", "")
    output, _ = run([unmarked], "stop")
    assert {call.name for call in output.calls} <= {tool.name for tool in TOOLS}


@given(
    st.lists(
        st.sampled_from(["alpha", "\n", " ", "`x`", "{", "}", "(", "a < b", "[1]", "```\n", "call", ":"]), max_size=20
    )
)
def test_text_without_a_call_in_it_is_kept_character_for_character(parts: list[str]) -> None:
    text = "".join(parts)
    output, _ = run([text], "stop")
    assert output.text == text.strip()
    assert output.calls == []


@given(STREAMS)
def test_no_word_is_lost_that_is_in_no_mark(text: str) -> None:
    """Every word is seen, thought, or an argument, or what it stood in was told to be broken or behind the end."""
    marked = "".join(f" w{number}w {part}" for number, part in enumerate(text.split("word ")))
    output, _ = run([marked], "stop")
    kept = output.text + output.thinking + json.dumps([call.arguments for call in output.calls])
    gone = [number for number in range(text.count("word ") + 1) if f"w{number}w" not in kept]
    ends = ("<turn|>", "<eos>", "<|im_end|>")
    assert not gone or output.bad_calls or output.truncated or any(end in marked for end in ends)


def test_the_work_grows_with_the_length_and_not_with_its_square() -> None:
    def seconds(answer: str) -> float:
        stream = f"<|tool_call>call:provide_answer{{answer:{Q}{answer}{Q}}}<tool_call|>{answer}"
        begin = time.perf_counter()
        output, _ = run(list(stream), "stop")
        assert output.calls[0].arguments == {"answer": answer}
        return time.perf_counter() - begin

    short, long = "words and `code`. " * 60, "words and `code`. " * 600
    seconds(short)
    assert min(seconds(long) for _ in range(3)) < 40 * min(seconds(short) for _ in range(5))
