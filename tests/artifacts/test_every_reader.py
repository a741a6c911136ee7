"""Whatever is read, and with whichever reader: the answer is bounded, and so is what is fetched for it."""

from __future__ import annotations

import json

import pytest

from py_agent.artifacts.fitting import FRAME_TOKENS
from py_agent.artifacts.readers import readers
from py_agent.artifacts.spooled import Page
from py_agent.artifacts.writing import BLOCK_CHARS
from py_agent.model.tool import ResultKind, Span, ToolResult
from py_agent.prompt.tokens import estimate_tokens
from py_agent.storage.spool import MemorySpool
from tests.artifacts.shelves import KINDS, call, shelf_of

LONG = "words of 1 long line, 🙂 and <end_of_turn> " * 2_000
MARKDOWN = (
    f"---\n{'key: value' * 500}\n---\n"
    + f"# Heading {LONG[:1500]}\n\n[a link](x.html) {LONG}\n\n```\n{LONG}\n```\n" * 4
)
JSON = json.dumps([{"name": LONG, "n": number, LONG[:200] + str(number): [[1, 2]] * 500} for number in range(9)])
TEXTS: dict[ResultKind, str] = {"text": f"{LONG}\n" * 20 + "end\n" * 123_456, "json": JSON, "markdown": MARKDOWN}

ARGUMENTS = {
    "artifact_grep": {"pattern": "words.*"},
    "artifact_head": {"lines": 1_000},
    "artifact_tail": {"lines": 1_000},
    "artifact_json_get": {"path": "$[*]['name', 'n']"},
    "artifact_json_filter": {"path": "$.n"},
    "artifact_json_pluck": {"path": "$.name"},
    "artifact_md_sections": {"heading": "heading"},
}
CASES = [(kind, tool.name) for kind in KINDS for tool in readers(shelf_of(), (kind,))]


class CountingSpool(MemorySpool):
    """Counts the bytes that are read."""

    bytes_read = 0

    async def read(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        data = await super().read(key, start, end)
        self.bytes_read += len(data)
        return data


@pytest.mark.parametrize("cap", [150, 800])
@pytest.mark.parametrize(("kind", "reader"), CASES)
async def test_every_reader_is_bounded(kind: ResultKind, reader: str, cap: int) -> None:
    text = TEXTS[kind]
    shelf = shelf_of(inline_tokens=0, reader_tokens=cap)
    spans = (Span(passage="passage_of_the_guide", start=0, end=text.count("\n")),)
    await shelf.take("c1", "tool", ToolResult(text=text, kind=kind, spans=spans))
    for cursor in ({}, {"start": 1, "offset": 2}) if "offset" in _arguments(reader) else ({},):
        told = await call(shelf, reader, **ARGUMENTS.get(reader, {}), **cursor)
        assert estimate_tokens(told) <= cap
        assert "<end_of_turn>" not in told


@pytest.mark.parametrize("reader", ["artifact_cat", "artifact_head"])
@pytest.mark.parametrize("text", ["x" * 10_000_000, "a line\n" * 1_500_000])
async def test_a_read_fetches_a_few_blocks_whatever_the_size(reader: str, text: str) -> None:
    spool = CountingSpool()
    shelf = shelf_of(spool)
    await shelf.take("c1", "tool", ToolResult(text=text))
    await call(shelf, reader, **({"start": 1, "offset": 5_000} if text[0] == "x" and reader == "artifact_cat" else {}))
    assert 0 < spool.bytes_read <= 4 * BLOCK_CHARS


def _arguments(reader: str) -> set[str]:
    tool = next(tool for tool in readers(shelf_of(), KINDS) if tool.name == reader)
    return set(tool.args.model_fields)


async def test_text_that_grows_when_its_tokens_are_broken_is_bounded_as_it_is_shown() -> None:
    shelf = shelf_of(reader_tokens=800)
    await shelf.take("c1", "tool", ToolResult(text="<eos>" * 5_000))
    told = await call(shelf, "artifact_cat")
    assert "< eos>" in told
    assert estimate_tokens(told) <= 800


@pytest.mark.parametrize("reader", ["artifact_cat", "artifact_md_code_blocks", "artifact_md_frontmatter"])
async def test_the_frame_of_the_largest_numbers_is_within_its_allowance(reader: str) -> None:
    shelf = shelf_of()
    await shelf.take("c128", "tool", ToolResult(text="word " * 500))
    shelf.artifact("c128", "artifact_cat").lines = 1_250_000
    page = Page("", 1_111_111, 22_222_222, (1_222_222, 33_333_333), 1_222_222)
    assert estimate_tokens(shelf.show_page("c128", page, reader, 1_233_333)) <= FRAME_TOKENS
