from __future__ import annotations

import json

import pytest

from py_agent.prompt.draft import DraftReader
from py_agent.prompt.splitter import StreamSplitter
from tests.harness import call

TOOLS = {"provide_answer": ("answer", "sources"), "search_docs": ("query",)}


def drafted(stream: str, size: int) -> str:
    splitter, draft, out = StreamSplitter(TOOLS), DraftReader(), ""
    for at in range(0, len(stream), size):
        for piece in splitter.feed(stream[at : at + size]):
            if piece.kind == "call":
                out += draft.feed(piece.text)
    return out


def test_the_answer_streams_out_of_the_call_whatever_the_chunks() -> None:
    answer = 'Use "x", {y} and:\n\n```\nsources: [a]\n```\n'
    stream = call("provide_answer", answer=answer, sources=[{"passage": "p1", "quote": "answer: no"}])
    for size in range(1, len(stream) + 1):
        assert drafted(stream, size) == answer, size


def test_other_calls_and_other_arguments_are_no_draft() -> None:
    assert drafted(call("search_docs", answer="no"), 3) == ""
    assert drafted(call("provide_answer", sources=[{"passage": "p1", "quote": "x"}]), 3) == ""


ODD = 'C:\\\\u00 "é" 🚀\n\n```\n{"a": [1]}\n```\t\\end\\'
JSON = json.dumps({"name": "provide_answer", "arguments": {"answer": ODD, "sources": ["answer"]}})


@pytest.mark.parametrize(
    "stream",
    [
        JSON,
        json.dumps(json.loads(JSON), ensure_ascii=False),
        f"<tool_call>\n{JSON}\n</tool_call>",
        f"Let me answer.\n\n```json\n{JSON}\n```\n",
        f"```tool_code\nprint(provide_answer(sources=[], answer={ODD!r}))\n```",
        f"call:provide_answer(answer={json.dumps(ODD)})",
        f'provide_answer{{answer:<|"|>{ODD}<|"|>,sources:[]}}',
        f"[provide_answer(answer={json.dumps(ODD, ensure_ascii=False)})]",
    ],
)
def test_the_answer_streams_out_of_every_form(stream: str) -> None:
    for size in range(1, len(stream) + 1):
        assert drafted(stream, size) == ODD, size
    splitter = StreamSplitter(TOOLS)
    splitter.feed(stream)
    assert splitter.finish().calls[0].arguments["answer"] == ODD


def test_an_answer_of_another_object_is_no_draft() -> None:
    for stream in (
        '{"name": "search_docs", "arguments": {"answer": "no"}}',
        '{"name": "provide_answer", "arguments": {"sources": [{"answer": "no"}]}}',
        '{"arguments": {"answer": "no"}}',
    ):
        assert drafted(stream, 3) == ""
