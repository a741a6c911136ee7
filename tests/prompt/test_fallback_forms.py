"""The forms that small models fall back to, and what only looks like them: each stream whole and cut everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from py_agent.prompt.splitter import Output, StreamSplitter

Q = '<|"|>'
TOOLS = {
    "search_docs": ("query", "limit"),
    "read_page": ("path",),
    "provide_answer": ("answer", "sources"),
    "get_current_time": ("tz",),
}
X = [("search_docs", {"query": "x"})]

# (what the model writes, text, calls)
CALLS: dict[str, tuple[str, str, list[Any]]] = {
    "bare": ('call:search_docs{query:"x"}', "", X),
    "bare, its marker stripped in the middle of a line": (
        "I will search.call:search_docs{query:x}",
        "I will search.",
        X,
    ),
    "bare, two of them": (
        f"call:search_docs{{query:{Q}x{Q}}}\ncall:read_page{{path:{Q}/x/{Q}}}",
        "",
        [*X, ("read_page", {"path": "/x/"})],
    ),
    "bare, with the end marker only": ("So:\ncall:search_docs{query:x}<tool_call|> ok", "So:\n ok", X),
    "bare, with the end of the turn": ("call:search_docs{query:x}<end_of_turn>\n", "", X),
    "bare, on a line of its own, and text behind it": ('So:\ncall:search_docs{query:"x"}\nWait.', "So:\nWait.", X),
    "name and braces": ("search_docs{query:x}", "", X),
    "name and parentheses": ('Sure!\n\nsearch_docs(query="x")\n', "Sure!", X),
    "doubled name": ("search_docs:search_docs{query: 'x'}", "", X),
    "a list of Python calls": ('[search_docs(query="x"), get_current_time()]', "", [*X, ("get_current_time", {})]),
    "a list of JSON calls": ('[{"name": "search_docs", "arguments": {"query": "x"}}]', "", X),
    "arguments by position": (
        '```tool_code\nsearch_docs("x", 3)\n```',
        "",
        [("search_docs", {"query": "x", "limit": 3})],
    ),
    "assigned and printed": ('```tool_code\nr = search_docs(query="x")\nprint(r)\n```', "", X),
    "a native call in the fence": ("```tool_code\ncall:search_docs{query:x}\n```", "", X),
    "a namespace with a dot": ('<|tool_call>functions.search_docs(query="x")<tool_call|>', "", X),
    "keyed": (
        "search_docs\nquery: install on Windows\nlimit: 3\n",
        "",
        [("search_docs", {"query": "install on Windows", "limit": "3"})],
    ),
    "keyed, quoted": ('search_docs\nquery: "a: b, c"\n', "", [("search_docs", {"query": "a: b, c"})]),
    "JSON in native markers": ('<|tool_call>{"name":"search_docs","arguments":{"query":"x"}}<tool_call|>', "", X),
    "arguments as JSON in a string": ('{"name": "search_docs", "arguments": "{\\"query\\": \\"x\\"}"}', "", X),
    "a plain fence with one JSON call": (
        '```\n{"name": "search_docs", "arguments": {"query": "x"}}\n```\nDone.',
        "Done.",
        X,
    ),
    "a JSON fence without its end": ('```json\n{"name": "search_docs", "arguments": {"query": "x"}}', "", X),
    "a fence inside a string": (
        '```json\n{"name":"provide_answer","arguments":{"answer":"Run:\n```\nmake\n```\nok"}}\n```',
        "",
        [("provide_answer", {"answer": "Run:\n```\nmake\n```\nok"})],
    ),
    "a brace is missing in front of the end marker": ("<|tool_call>call:search_docs{query:x<tool_call|>", "", X),
    "the turn ends where the marker should stand": ("<|tool_call>call:search_docs{query:x}<turn|>", "", X),
    "the next call begins where the end marker should stand": (
        "<|tool_call>call:search_docs{query:x}<|tool_call>call:read_page{path:/x/}<tool_call|>",
        "",
        [*X, ("read_page", {"path": "/x/"})],
    ),
    "the end marker inside a JSON string": (
        '<tool_call>{"name":"search_docs","arguments":{"query":"a </tool_call> b"}}</tool_call>!',
        "!",
        [("search_docs", {"query": "a </tool_call> b"})],
    ),
    "right behind a fence": ("```\ncode\n```<|tool_call>call:search_docs{query:x}<tool_call|>", "```\ncode\n```", X),
    "behind a backtick that has no partner": (
        "Use `x.\n<|tool_call>call:search_docs{query:x}<tool_call|>",
        "Use `x.",
        X,
    ),
}

NO_CALLS = {
    "in a sentence": 'Write call:search_docs{query:"x"} to search.',
    "text follows in the same line": 'So. call:search_docs{query:"x"} is the form.',
    "an unknown name behind call": "call:brave{q:x}",
    "text follows JSON": '{"name": "search_docs", "arguments": {"query": "x"}}\nis a call.',
    "text follows a keyed one": "search_docs\nquery: x\nThat is the form.",
    "keys that the tool does not have": "search_docs\nnote: it is fast\n",
    "a name in a sentence": "search_docs (the tool) finds pages.",
    "a name without arguments": "search_docs(query) finds pages.",
    "an unknown name": 'my_function(query="x")',
    "JSON that is no call": '{"cache": {"ttl": 60}}',
    "JSON of somebody else": '{"name": "my-app", "arguments": {}}',
    "two objects in a fence": '```json\n{"name":"read_page","arguments":{}}\n{"name":"read_page","arguments":{}}\n```',
    "a declaration": '```json\n{"name": "read_page", "description": "d", "parameters": {"type": "object"}}\n```\nok.',
    "words in the fence": '```\n{"name": "search_docs", "arguments": {"query": "x"}} # like this\n```',
    "a name at the end that nobody knows": '```json\n{"arguments": {"query": "x"}, "name": "deploy"}\n```',
    "another language": '```python\nsearch_docs(query="x")\n```',
    "a quote": '> call:search_docs{query:"x"}',
    "a list item": '- call:search_docs{query:"x"}',
    "indented code": '    call:search_docs{query:"x"}',
    "markers in a fence": "```\n<|tool_call>call:search_docs{query:x}<tool_call|>\n```",
    "markers in inline code": "Gemma writes `<|tool_call>call:f{}<tool_call|>` there.",
    "nothing of ours in tool_code": '```tool_code\nprint("hello")\n```',
    "a list of links": "[1] see [search_docs](x)",
}


def cuts(text: str) -> list[list[str]]:
    pairs = [text[at : at + 2] for at in range(0, len(text), 2)]
    return [[text], list(text), pairs, *([text[:at], text[at:]] for at in range(1, len(text)))]


def split(chunks: list[str], reason: str = "stop") -> Output:
    splitter = StreamSplitter(TOOLS)
    visible = "".join(piece.text for chunk in chunks for piece in splitter.feed(chunk) if piece.kind == "text")
    output = splitter.finish(reason)
    assert output.text.startswith(visible.strip())
    return output


@pytest.mark.parametrize("name", CALLS)
def test_a_call_in_another_form_is_read(name: str) -> None:
    stream, text, calls = CALLS[name]
    for chunks in cuts(stream):
        output = split(chunks)
        assert [(call.name, call.arguments) for call in output.calls] == calls, chunks
        assert (output.text, output.bad_calls) == (text, []), chunks


@pytest.mark.parametrize("name", CALLS)
def test_no_form_runs_when_the_limit_cut_it(name: str) -> None:
    # Cut in the middle of the last call's arguments: what stands there looks like the beginning of its value.
    stream, _, calls = CALLS[name]
    value = next(iter(calls[-1][1].values()), None)
    if not isinstance(value, str):
        return
    at = stream.rindex(value.split("\n")[-1].split(":")[-1].strip()) + 1
    for chunks in ([stream[:at]], list(stream[:at])):
        output = split(chunks, "length")
        assert [(call.name, call.arguments) for call in output.calls] == calls[:-1][: len(output.calls)], chunks
        assert output.truncated or output.calls, chunks
        assert "search_docs" not in output.text, chunks


@pytest.mark.parametrize("name", NO_CALLS)
def test_an_example_is_no_call_and_stays_as_it_is(name: str) -> None:
    stream = NO_CALLS[name]
    for chunks in cuts(stream):
        output = split(chunks)
        assert output.calls == [], chunks
        assert output.text == stream.strip(), chunks


def test_without_tools_only_what_says_call_is_one() -> None:
    for stream in ('{"name": "search_docs", "arguments": {}}', "search_docs{query:x}", 'search_docs(query="x")'):
        splitter = StreamSplitter()
        splitter.feed(stream)
        assert (splitter.finish().text, splitter.output.calls) == (stream, [])


@pytest.mark.parametrize(
    "stream",
    [
        '```tool_code\nsearch_docs(query=open("/etc/hostname").read())\n```',
        '```tool_code\nsearch_docs(query=f"{x}")\n```',
        '```tool_code\nsearch_docs(**{"query": "x"})\n```',
        '```tool_code\nimport os\nsearch_docs(query="x")\n```',
        "```tool_code\nfor q in [1]:\n    search_docs(query=q)\n```",
        "```tool_code\nsearch_docs(query=" + "-" * 1_500 + "1)\n```",
        "```tool_code\nsearch_docs(query=" + "[" * 5_000 + "]" * 5_000 + ")\n```",
        '```tool_code\nsearch_docs(query="it)\n```\nText behind it.',
        '<|tool_call>call:search_docs(query=len("x"))',
        'search_docs(query=open("x").read())',
        '{"name": "search_docs", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}',
        '<tool_call>{"name": "search_docs", "arguments": {"query": open("x")}}</tool_call>',
        '<tool_call>{"name": "search_docs", "arguments": {"query": "say "hi", "x""}}</tool_call>',
        f"<|tool_call>call:search_docs{{query:{Q}x}}<tool_call|>",
        "<|tool_call>call:search_docs{query:" + "[" * 40 + "]" * 40 + "}<tool_call|>",
    ],
)
def test_a_call_that_is_refused_says_which_tool_and_does_not_run(stream: str) -> None:
    for chunks in ([stream], list(stream)):
        output = split(chunks)
        assert output.calls == []
        assert output.rejected == ["search_docs"]
        assert output.bad_calls[0].startswith("search_docs: ")
        assert "search_docs" not in output.text
        assert output.text == ("Text behind it." if "behind" in stream else "")


def test_a_number_that_no_computer_likes_is_text() -> None:
    for number in ("9" * 5_000, "1e999"):
        output = split([f"<|tool_call>call:search_docs{{query:{number}}}<tool_call|>"])
        assert output.calls[0].arguments == {"query": number}


def test_one_refused_statement_does_not_take_the_others_with_it() -> None:
    output = split(['```tool_code\nsearch_docs(query="x")\nread_page(path=home())\n```'])
    assert [call.name for call in output.calls] == ["search_docs"]
    assert output.rejected == ["read_page"]


def test_a_json_call_that_cannot_be_read_stays_visible_and_the_model_hears_why() -> None:
    stream = '```json\n{"name": "provide_answer", "arguments": {"answer": "Use "x", "y" here"}}\n```'
    output = split(list(stream))
    assert (output.calls, output.text, output.rejected) == ([], stream, ["provide_answer"])
    # With other words around it, it is an example.
    assert split([f"So:\n\n{stream}\n\nis wrong."]).bad_calls == []


def test_leaked_tokens_go_and_explained_tokens_stay() -> None:
    for stream, text in {
        "It`s done.<end_of_turn><eos>": "It`s done.",
        "Hi<unused32>!<|im_end|>\n<|im_start|>user": "Hi!",
        "```\ncode\n<end_of_turn>\n<eos>": "```\ncode",
        "```\nprint('<eos>')\n```\nends.": "```\nprint('<eos>')\n```\nends.",
        "`<pad>` fills, ``<|im_end|> ` `` ends.": "`<pad>` fills, ``<|im_end|> ` `` ends.",
        "A </tool_response>b</think>": "A b",
    }.items():
        for chunks in cuts(stream):
            assert split(chunks).text == text, chunks


def test_the_template_may_have_opened_the_thought() -> None:
    for end in ("</think>", "<channel|>"):
        splitter = StreamSplitter(TOOLS, start_in_thought=True)
        pieces = splitter.feed(f"I weigh call:search_docs{{query:x}}.{end}Answer")
        assert [(piece.kind, piece.text) for piece in pieces if piece.kind == "text"] == [("text", "Answer")]
        output = splitter.finish()
        assert (output.text, output.calls, output.thinking) == ("Answer", [], "I weigh call:search_docs{query:x}.")
        assert not output.empty_answer


def test_thoughts_alone_are_an_empty_answer() -> None:
    for stream in ("", "<|channel>thought\nHm.<channel|>", "<think>I never stop", "<channel|>\n<eos>"):
        assert split([stream]).empty_answer
    assert not split(["Hi"]).empty_answer
    assert not split([f"<|tool_call>call:search_docs{{query:{Q}x}}<tool_call|>"]).empty_answer


def test_a_fence_that_can_be_no_call_is_shown_at_once() -> None:
    for opener, held in (
        ("call:brave{", 0),
        ("```python\n", 0),
        ("```\nx", 0),
        ('```json\n{"cache"', 0),
        ('```json\n{"nam', 13),
    ):
        splitter = StreamSplitter(TOOLS)
        shown = sum(len(piece.text) for char in opener for piece in splitter.feed(char) if piece.kind == "text")
        assert len(opener) - shown == held, opener


def test_the_work_grows_with_the_stream_and_no_faster() -> None:
    # Counted in steps of the interpreter and not in seconds: a busy machine would make a clock lie.
    import sys

    def steps(stream: str) -> int:
        count = 0

        def tick(*_: object) -> None:
            nonlocal count
            count += 1

        splitter = StreamSplitter(TOOLS)
        sys.setprofile(tick)
        try:
            for char in stream:
                for piece in splitter.feed(char):
                    count += len(piece.text)
            splitter.finish()
        finally:
            sys.setprofile(None)
        return count

    line = "Set the `cache` to 1, then run a < b. List<String> works "
    for opening in (
        "",
        "\n",
        f"<|tool_call>call:f{{q:{Q}",
        '{"name": "search_docs", "arguments": {"query": "',
        "```\n",
    ):
        short, long = steps(opening + line * 20), steps(opening + line * 80)
        assert long < 4.4 * short, opening
