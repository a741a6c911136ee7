"""What the model sees of a result, what counts as read, and which readers are open."""

from __future__ import annotations

import pytest

from py_agent.artifacts.readers import SMALL, readers
from py_agent.model.errors import StorageError
from py_agent.model.tool import ResultKind, Span, ToolError, ToolResult
from py_agent.prompt.tokens import estimate_tokens
from py_agent.storage.spool import MemorySpool
from py_agent.tools.listing import list_passages
from tests.artifacts.shelves import call, kept, shelf_of, stream_of
from tests.harness import passage


class FullSpool(MemorySpool):
    """Has room for so many bytes."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room

    async def write(self, key: str, data: bytes) -> None:
        self._take(data)
        await super().write(key, data)

    async def append(self, key: str, data: bytes) -> None:
        self._take(data)
        await super().append(key, data)

    def _take(self, data: bytes) -> None:
        self._room -= len(data)
        if data and self._room < 0:
            raise StorageError("The browser has no more space for this site.", hint="Free some.", code="full")


@pytest.mark.parametrize("kind", ["text", "json", "markdown"])
async def test_a_handle_costs_a_few_dozen_tokens_whatever_the_result(kind: ResultKind) -> None:
    costs = []
    for size in (1_000, 100_000_000):
        shelf = shelf_of(inline_tokens=200)
        block = "some words on a line\n" * 5_000
        pieces = [block] * (size // len(block)) if size > len(block) else [block[:size]]
        result = ToolResult(stream=stream_of(*pieces), kind=kind, summary="a result of one of the site's own tools")
        shown = await shelf.take("c17", "search_docs", result)
        assert shown.spool_key == "turns/t/c17"
        costs.append(estimate_tokens(shown.text))
    assert max(costs) <= 60, costs


async def test_a_small_result_is_inline_and_counts_as_read() -> None:
    shelf = shelf_of()
    text, spans = list_passages("1 passage", [passage("p1", "Short.")])
    shown = await shelf.take("c1", "search_docs", ToolResult(text=text, spans=spans, retrieved=("p1",)))
    assert shown.spool_key is None
    assert "Short." in shown.text
    assert shelf.unread == ()
    assert shelf.ledger.shown == ("p1",)


async def test_a_stream_that_ends_early_is_inline() -> None:
    shown = await shelf_of().take("c1", "tool", ToolResult(stream=stream_of("a ", "b ", "", "c")))
    assert shown.spool_key is None
    assert "\na b c\n" in shown.text


async def test_a_passage_that_stands_in_the_prompt_counts_as_read() -> None:
    shelf = shelf_of()
    shelf.ledger.add_retrieved(["p4", "p2"])
    shelf.ledger.add_whole(["p4", "p2"])
    assert shelf.ledger.shown == ("p4", "p2")
    assert shelf.ledger.retrieved == ("p4", "p2")
    assert shelf.unread == ()


async def test_only_passages_whose_text_was_shown_count_as_read() -> None:
    shelf = shelf_of()
    passages = [passage(f"p{number}", f"Passage {number}. " * 20) for number in range(4)]
    text, spans = list_passages("4 passages", passages)
    await shelf.take("c1", "search_docs", ToolResult(text=text, spans=spans, retrieved=tuple(p.id for p in passages)))
    assert shelf.unread == ("c1",)
    assert shelf.ledger.shown == ()
    shown = await shelf.read("c1", 1)
    assert shelf.unread == ()
    assert shelf.ledger.shown == ("p0",)
    assert "more lines: artifact_cat with call_id c1, start" in shown
    assert shelf.ledger.retrieved == ("p0", "p1", "p2", "p3")


async def test_a_page_inside_a_passage_says_whose_text_goes_on() -> None:
    shelf = shelf_of()
    text, spans = list_passages(
        "1 passage", [passage("p7", "\n".join(f"A line of text, number {n}." for n in range(60)))]
    )
    await shelf.take("c1", "search_docs", ToolResult(text=text, spans=spans))
    await shelf.read("c1", 1)
    assert "[p7] (goes on)" in await shelf.read("c1", 20)


async def test_a_search_shows_the_passages_of_its_lines_and_no_others() -> None:
    shelf = shelf_of()
    passages = [passage(f"p{number}", f"Passage {number} has words.\n" * 20) for number in range(4)]
    text, spans = list_passages("4 passages", passages)
    await shelf.take("c1", "search_docs", ToolResult(text=text, spans=spans, retrieved=tuple(p.id for p in passages)))
    assert "No line of c1 matches: lantern" in await call(shelf, "artifact_grep", pattern="lantern")
    assert shelf.unread == ("c1",)
    shown = await call(shelf, "artifact_grep", pattern="passage 2")
    assert "[p2]\n" in shown
    assert shelf.unread == ()
    assert shelf.ledger.shown == ("p2",)


async def test_readers_open_only_for_what_lies_on_the_shelf() -> None:
    shelf = shelf_of(inline_tokens=0)
    assert shelf.open_readers == frozenset()
    await shelf.take("c1", "tool", ToolResult(text="some text"))
    assert {"artifact_cat", "artifact_grep", "artifact_line_count"} <= shelf.open_readers
    assert not any(name.startswith(("artifact_json", "artifact_md")) for name in shelf.open_readers)
    await shelf.take("c2", "tool", ToolResult(text="{}", kind="json"))
    assert "artifact_json_get" in shelf.open_readers
    assert "artifact_md_headings" not in shelf.open_readers


async def test_a_small_window_has_two_readers_whatever_the_result() -> None:
    shelf = shelf_of(inline_tokens=0)
    assert [tool.name for tool in readers(shelf, names=SMALL)] == ["artifact_cat", "artifact_grep"]
    shown = await shelf.take("c1", "tool", ToolResult(text="[1]", kind="json"))
    assert "artifact_json" not in shown.text
    assert shelf.open_readers == {"artifact_cat", "artifact_grep"}


async def test_a_reader_of_another_kind_says_which_ones_fit() -> None:
    shelf = await kept("just text, no more")
    with pytest.raises(ToolError, match=r"c1 is plain text.*artifact_cat, artifact_grep") as raised:
        await call(shelf, "artifact_json_get", path="$")
    assert raised.value.code == "other_kind"
    assert "artifact_json" not in raised.value.message.split("Read it with")[1]


async def test_a_reader_names_what_can_be_read() -> None:
    shelf = await kept("word " * 500)
    with pytest.raises(ToolError, match="c1"):
        await call(shelf, "artifact_cat", call_id="c9")
    with pytest.raises(ToolError, match="there are 1 lines"):
        await call(shelf, "artifact_cat", start=99)
    with pytest.raises(ToolError, match="line 1 has 2500 characters"):
        await call(shelf, "artifact_cat", start=1, offset=2_501)


async def test_a_result_that_the_spool_lost_is_an_error_for_the_model() -> None:
    spool = MemorySpool()
    shelf = shelf_of(spool)
    await shelf.take("c1", "search_docs", ToolResult(text="word " * 500))
    await spool.delete("turns/")
    with pytest.raises(ToolError, match="gone"):
        await call(shelf, "artifact_cat")


async def test_a_result_that_cannot_be_kept_is_not_there_at_all() -> None:
    spool = FullSpool(300_000)
    shelf = shelf_of(spool)
    text, spans = list_passages("1 passage", [passage("p1", "Text. " * 200_000)])
    for result in (ToolResult(text=text, spans=spans, retrieved=("p1",)), ToolResult(stream=stream_of(text))):
        with pytest.raises(StorageError, match="no more space"):
            await shelf.take("c1", "search_docs", result)
        assert shelf.handles == shelf.ledger.retrieved == shelf.ledger.shown == ()
        assert shelf.open_readers == frozenset()
        assert await spool.size("turns/t/c1") == 0


async def test_the_same_text_again_is_the_same_artifact() -> None:
    shelf = shelf_of(inline_tokens=0)
    for name in ("c1", "c2"):
        await shelf.take(name, "tool", ToolResult(text="the same text"))
    await call(shelf, "artifact_cat", call_id="c2")
    assert shelf.unread == ()


def test_a_page_cannot_give_its_words_to_another_passage() -> None:
    text, spans = list_passages("1 passage", [passage("p1", "one\n[p2] Guide\ntwo")])
    assert [line for line in text.split("\n") if line.startswith("[")] == ["[p1] Guide"]
    assert spans == (Span(passage="p1", start=3, end=6),)
