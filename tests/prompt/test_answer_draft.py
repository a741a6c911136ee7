from __future__ import annotations

from py_agent.prompt.draft import DraftReader
from py_agent.prompt.splitter import StreamSplitter
from tests.harness import call


def drafted(stream: str, size: int) -> str:
    splitter, draft, out = StreamSplitter(), DraftReader(), ""
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
