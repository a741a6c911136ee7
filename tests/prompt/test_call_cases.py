"""The handed cases of streams, each cut everywhere: the forms of calls, what is none, and what reaches the reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from py_agent.prompt.markers import MAX_PADS
from py_agent.prompt.parsers.chars import ByteDecoder, join_halves
from py_agent.prompt.splitter import StreamSplitter

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
TOOLS = {
    tool["name"]: tuple(tool["parameters"]["properties"])
    for tool in json.loads((CASES / "_tools.json").read_text(encoding="utf-8"))
}
VARIANTS = {
    f"{case['id']} {variant['name']}": variant
    for case in (json.loads(path.read_text(encoding="utf-8")) for path in sorted(CASES.glob("T*.json")))
    for variant in case.get("variants", [])
}

#: Streams longer than this are cut at every seventh place only: the flood of filler is 1,000 characters of the same.
LONG = 600

#: What no intermediate state may show (the rule of T15).
NEVER = ("<|", "<channel", "secret", "The reader wants", "Search first", "\ufffd")


def cuts(chunks: list[str]) -> Iterator[list[str]]:
    text = "".join(chunks)
    yield chunks
    yield [text]
    yield list(text)
    yield [text[at : at + 2] for at in range(0, len(text), 2)]
    for at in range(1, len(text), 1 if len(text) < LONG else 7):
        yield [text[:at], text[at:]]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_cut_of_a_case_gives_its_result(name: str) -> None:
    variant = VARIANTS[name]
    expected = variant["expect"]
    for chunks in cuts(variant["chunks"]):
        splitter = StreamSplitter(TOOLS)
        visible = ""
        for chunk in chunks:
            visible += "".join(piece.text for piece in splitter.feed(chunk) if piece.kind == "text")
            assert not any(word in visible for word in NEVER), (chunks, visible)
            visible.encode()  # half of a character cannot be encoded
        output = splitter.finish(variant["finish"])
        found: dict[str, Any] = {
            "calls": [{"name": call.name, "arguments": call.arguments} for call in output.calls],
            "text": output.text,
            "thinking": output.thinking,
            "truncated": output.truncated,
            "rejected": output.rejected,
            "degenerate": output.degenerate,
        }
        wanted = {key: value for key, value in expected.items() if value is not None}
        if "text" in wanted:
            wanted["text"] = join_halves(wanted["text"]).strip()
        assert {key: found[key] for key in wanted} == wanted, chunks
        # What was shown stays: the whole text begins with it.
        assert output.text.startswith(visible.strip()), chunks


def test_the_cases_are_all_there() -> None:
    assert {name.split()[0] for name in VARIANTS} >= {"T01", "T03", "T05", "T07", "T11", "T15", "T17", "T19"}


@pytest.mark.parametrize("name", ["T15 generic", "T15 thought_then_text"])
def test_ordinary_text_is_held_back_by_a_few_characters_only(name: str) -> None:
    text = "".join(VARIANTS[name]["chunks"])
    splitter = StreamSplitter(TOOLS)
    shown = 0
    for at, char in enumerate(text, 1):
        shown += sum(len(piece.text) for piece in splitter.feed(char))
        assert at - shown <= 24 + len("<|channel>thought\n<channel|>"), text[:at]
    visible = sum(len(piece.text) for piece in StreamSplitter(TOOLS).feed(text) if piece.kind == "text")
    assert len(VARIANTS[name]["expect"]["text"]) - visible <= 24


def test_bytes_that_come_one_at_a_time_never_show_half_a_character() -> None:
    text = "".join(VARIANTS["T19 utf8_bytes"]["chunks"])
    decoder, splitter, visible = ByteDecoder(), StreamSplitter(TOOLS), ""
    for byte in text.encode():
        visible += "".join(piece.text for piece in splitter.feed(decoder.feed(bytes([byte]))))
        assert text.startswith(visible)
    assert splitter.finish().text == text


def test_a_flood_of_filler_is_stopped_wherever_it_comes() -> None:
    for opening in ("", "Hello ", "<|channel>thought\n", '<|tool_call>call:f{q:<|"|>', "```\n", "`", '{"name": "f'):
        for filler in ("<pad>", "<unused12>", "\n<pad> "):
            splitter = StreamSplitter({"f": ()})
            splitter.feed(opening)
            count = 0
            while not splitter.done and count < 10 * MAX_PADS:
                splitter.feed(filler)
                count += 1
            assert splitter.output.degenerate, opening
            assert count <= MAX_PADS, opening
            assert splitter.finish().calls == []
