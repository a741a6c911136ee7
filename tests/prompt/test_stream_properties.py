"""Random streams: broken ones of every form, and well-formed ones of which the right result is known."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from py_agent.model.prompt import CallSpec
from py_agent.prompt.dialects.gemma4 import render_call
from py_agent.prompt.draft import DraftReader
from py_agent.prompt.markers import MARKERS
from py_agent.prompt.splitter import Output, StreamSplitter

TOOLS = {
    "search_docs": ("query", "limit"),
    "provide_answer": ("answer", "sources"),
    "get_current_time": ("tz",),
    "call_a_tool": ("name", "arguments"),
}
Q = '<|"|>'
FRAGMENTS = [
    *MARKERS,
    *(Q, "```", "```json\n", "```tool_code\n", "```\n", "````", "~~~\n", "`", "``", "\n", "\n\n", "    ", " ", ". "),
    *("call:", "call:search_docs{", "search_docs", "search_docs(", "search_docs{", "query:", "query=", "print(", "x"),
    *('"', "'", "{", "}", "(", ")", "[", "]", ",", ":", "=", "\\", '\\"', "\\u00", '"""', "\u201c", "\u201d", "#"),
    *("\ud83d", "\ude80", "é", "\r\n", "\t", "<", "<|", "<unused3>", "List<String>", "Prose here", "thought\n"),
    *('{"name": "search_docs", "arguments": {"query": "x"}}', 'search_docs(query="x")', "\nsearch_docs\nquery: x\n"),
    *('{"name": "provide_answer", "arguments": {"answer": "', 'provide_answer(answer="', f"answer:{Q}"),
]

streams = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)


class Run:
    """One stream, split as ``chunks``: what came out, and what the reader saw meanwhile."""

    def __init__(self, chunks: list[str], reason: str) -> None:
        splitter = StreamSplitter(TOOLS)
        self.visible = ""
        self.drafts: dict[int, str] = {}
        readers: dict[int, DraftReader] = {}
        for chunk in chunks:
            for piece in splitter.feed(chunk):
                if piece.kind == "text":
                    self.visible += piece.text
                elif piece.kind == "call":
                    new = readers.setdefault(piece.number, DraftReader()).feed(piece.text)
                    self.drafts[piece.number] = self.drafts.get(piece.number, "") + new
        self.output: Output = splitter.finish(reason)


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@given(streams, st.sampled_from(["stop", "length"]), st.lists(st.integers(0, 400), max_size=5))
@example('provide_answer(answer="\\u00\n', "stop", [25])
@example("\nsearch_docs\nquery: x\ncall:search_docs{<eos>", "stop", [3])
def test_a_broken_stream_gives_the_same_whatever_the_cuts(stream: str, reason: str, cuts: list[int]) -> None:
    whole = Run([stream], reason)
    for chunks in (list(stream), pieces_of(stream, cuts)):
        run = Run(chunks, reason)
        assert run.output == whole.output
        # What is shown only grows, and what was shown is the beginning of what there is.
        assert run.output.text.startswith(run.visible.strip())
        run.visible.encode()
        for number, draft in run.drafts.items():
            draft.encode()
            other = whole.drafts.get(number, "")
            assert draft.startswith(other) or other.startswith(draft)


@given(streams, st.sampled_from(["stop", "length"]))
def test_no_marker_outside_of_code_reaches_the_reader(stream: str, reason: str) -> None:
    stream = stream.replace("`", "").replace("~", "")
    run = Run(list(stream), reason)
    assert not any(marker in run.output.text for marker in MARKERS)
    assert not any(marker in run.visible for marker in MARKERS)


arguments = st.dictionaries(
    st.sampled_from(["query", "limit", "answer"]),
    st.text(alphabet="ab}{'\"\n,:\\<>|`é🚀 ", max_size=12).map(lambda text: text.replace(Q, ""))
    | st.integers(0, 9)
    | st.booleans(),
    max_size=3,
)
names = st.sampled_from(sorted(TOOLS))


def native(name: str, given: dict[str, Any]) -> str:
    return render_call(CallSpec(name=name, arguments=given))


def hermes(name: str, given: dict[str, Any]) -> str:
    return "<tool_call>\n" + json.dumps({"name": name, "arguments": given}) + "\n</tool_call>"


def fenced(name: str, given: dict[str, Any]) -> str:
    return "\n```json\n" + json.dumps({"name": name, "arguments": given}, indent=2) + "\n```\n"


def python(name: str, given: dict[str, Any]) -> str:
    inner = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return f"\n```tool_code\nprint({name}({inner}))\n```\n"


FORMS = st.sampled_from([native, hermes, fenced, python])
EXAMPLES = [
    lambda name, given: f"\n\n```text\n{native(name, given)}\n```\n".replace("````", "```"),
    lambda name, _: f"`call:{name}{{}}` is how, ",
    lambda name, _: f"\n\n> {name}(query='x')\n\n",
    lambda name, _: f'\n\n{{"name": "{name}", "arguments": {{}}}}\n\n',
    lambda name, _: f"\n\n{name}(query=1)\n\n",
    lambda name, _: f"\n~~~\nprint({name}())\n~~~\n",
]
#: Text, as (kind, number of the word or of the example); calls, as (form, name, arguments).
prose = st.tuples(st.just("prose"), st.integers(0, 10**6))
calls = st.tuples(FORMS, names, arguments)
examples = st.tuples(st.just("example"), st.sampled_from(EXAMPLES), names)


@given(st.lists(prose | calls | examples, max_size=6), st.lists(st.integers(0, 2_000), max_size=4))
def test_every_call_runs_no_example_does_and_no_word_is_lost(parts: list[Any], cuts: list[int]) -> None:
    stream, words, wanted = "", [], []
    for part in parts:
        if part[0] == "prose":
            words.append(f"word{part[1]}")
            stream += f"\nSome {words[-1]} of text, and {words[-1]}. "
        elif part[0] == "example":
            stream += part[1](part[2], {}) + "so it is written. "
        else:
            form, name, given = part
            stream += form(name, given)
            wanted.append((name, given))
    stream += "\nThe end."
    for chunks in ([stream], list(stream), pieces_of(stream, cuts)):
        run = Run(chunks, "stop")
        assert [(call.name, call.arguments) for call in run.output.calls] == wanted
        assert [word for word in words if run.output.text.count(word) < 2] == []
        assert run.output.text.count("so it is written") == sum(part[0] == "example" for part in parts)
        assert run.output.text.endswith("The end.")
        assert run.output.bad_calls == []


@given(names, arguments, st.sampled_from([native, hermes, fenced, python]), st.integers(0, 10**6))
def test_a_call_that_is_cut_anywhere_never_runs(name: str, given: dict[str, Any], form: Any, cut: int) -> None:
    stream = form(name, given)
    end = {native: "<tool_call|>", hermes: "</tool_call>", fenced: "```", python: "```"}[form]
    at = cut % (stream.rindex(end) + 1)
    for chunks in ([stream[:at]], list(stream[:at])):
        run = Run(chunks, "length")
        assert run.output.calls == []
        assert run.output.truncated
