"""JSON artifacts: what is read as JSON, what the readers show, and that no document and no path is a danger."""

from __future__ import annotations

import asyncio
import json
import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_agent.artifacts.json_paths import PATH_BUDGET_MS, BadPath, Budget, Matches, Path
from py_agent.artifacts.parsing import JSON_PARSE_LIMIT, MAX_DEPTH, NotJson, parse
from py_agent.artifacts.shelf import Shelf
from py_agent.model.tool import ToolError
from py_agent.prompt.tokens import estimate_tokens
from py_agent.runner.breathe import Breather
from tests.artifacts.shelves import HOSTILE_PATHS, body, call, kept

BREATHE = Breather(50)

DOCUMENT = {
    "name": "lantern",
    "ports": [80, 443],
    "items": [
        {"name": "wick", "price": 3, "tags": ["a", "b"]},
        {"name": "oil", "price": 12.5, "note": None},
        {"name": "glass", "price": 20, "tags": []},
    ],
}

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=30,
)


def shelf_with(value: Any, **limits: int) -> Any:
    return kept(value if isinstance(value, str) else json.dumps(value), "json", **{"reader_tokens": 400, **limits})


async def shown(shelf: Shelf, reader: str, **arguments: Any) -> list[str]:
    return body(await call(shelf, f"artifact_json_{reader}", **arguments), f"artifact_json_{reader}").split("\n")


async def test_paths_get_pluck_and_filter() -> None:
    shelf = await shelf_with(DOCUMENT)
    assert await shown(shelf, "get", path="$.items[*].name") == ["wick", "oil", "glass"]
    assert await shown(shelf, "get", path="ports") == ["[80, 443]"]
    assert await shown(shelf, "get", path="$.items[?@.price > 10].name") == ["oil", "glass"]
    assert await shown(shelf, "get", path="$..price") == ["3", "12.5", "20"]
    records = await shelf_with(DOCUMENT["items"])
    assert await shown(records, "pluck", path="$.tags[*]") == ["a", "b"]
    assert await shown(records, "filter", path="$.note") == [json.dumps({"name": "oil", "price": 12.5, "note": None})]


async def test_keys_slices_and_measures() -> None:
    shelf = await shelf_with(DOCUMENT)
    assert await shown(shelf, "keys") == ["name", "ports", "items"]
    assert await call(shelf, "artifact_json_length") == "c1: 1 records."
    assert await call(shelf, "artifact_json_type") == "c1 is json, an object at the top."
    records = await shelf_with(DOCUMENT["items"])
    assert (await shown(records, "keys"))[2] == "tags (in 2 of 3 records)"
    assert await shown(records, "slice", start=2, end=2) == [json.dumps(DOCUMENT["items"][1])]
    with pytest.raises(ToolError, match="has 3 records"):
        await call(records, "artifact_json_slice", start=4)


async def test_measures_do_not_count_as_read_and_values_do() -> None:
    shelf = await shelf_with(DOCUMENT)
    await call(shelf, "artifact_json_length")
    await call(shelf, "artifact_json_type")
    told = await call(shelf, "artifact_json_get", path="$.nothing")
    assert told.startswith("c1 has none: 0 matches.")
    assert shelf.unread == ("c1",)
    await call(shelf, "artifact_json_get", path="$.name")
    assert shelf.unread == ()


@pytest.mark.parametrize(
    ("text", "format_", "root"),
    [
        ('{"a": 1}', "json", {"a": 1}),
        ("[1]\n", "json", [1]),
        ('{"a": 1}\n{"a": 2}\n', "jsonl", [{"a": 1}, {"a": 2}]),
        ('1\n\n"two"\r\n', "jsonl", [1, "two"]),
        ("{a: 1, 'b': 'it\\'s', /* x */ c: [1, 2,], // y\n d: +.5, e: 0x1F, f: 5.,}", "json5",
         {"a": 1, "b": "it's", "c": [1, 2], "d": 0.5, "e": 31, "f": 5.0}),
        ("{true: null, Infinity: -Infinity, $ok_1: 'a\\\nb\\x41\\u00e9\\v'}", "json5",
         {"true": None, "Infinity": float("-inf"), "$ok_1": "abAé\v"}),
        ("// only\n[null]", "json5", [None]),
    ],
)  # fmt: skip
async def test_the_format_is_found_strict_first(text: str, format_: str, root: Any) -> None:
    document = await parse(text, BREATHE)
    assert (document.format, document.root) == (format_, root)


NO_JSON = ["", "no JSON at all", "{a: b}", "{'a': 1 'b': 2}", '{"a": 1', "[1, 2", "{a: 1} {b: 2}", "[01]", "/* open"]


@pytest.mark.parametrize("text", [*NO_JSON, "1" * 5_000])
async def test_what_is_no_json_is_an_error_that_names_other_readers(text: str) -> None:
    with pytest.raises(NotJson):
        await parse(text, BREATHE)
    shelf = await shelf_with(text + " ")
    with pytest.raises(ToolError, match="artifact_head, artifact_cat or artifact_grep"):
        await call(shelf, "artifact_json_get", path="$")


@settings(deadline=None)
@given(JSON_VALUES)
async def test_every_json_text_reads_as_itself(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
        document = await parse(text, BREATHE)
        assert (document.format, document.root) == ("json", value)
    five = await parse("/* JSON5 */ " + json.dumps(value), BREATHE)
    assert (five.format, five.root) == ("json5", value)


# In Pyodide each of these would end the interpreter, not raise, if it came as far as a reader that recurses.
@pytest.mark.parametrize("unit", ["[", '{"a":', '[{"a":', "{a:", "['x',", '["\\"",[', '[ "]" , ['])
async def test_brackets_that_nest_without_end_are_refused_before_they_are_read(unit: str) -> None:
    for times in (200_000, 2 * MAX_DEPTH):
        with pytest.raises(NotJson):
            await parse(unit * times, BREATHE)
    line = await shelf_with("1\n" + unit * 100_000)
    with pytest.raises(ToolError, match="not JSON"):
        await call(line, "artifact_json_get", path="$")


async def test_brackets_in_strings_nest_nothing() -> None:
    value = ["[" * 500_000, '"' * 1_000, "\\" * 1_001 + "[[[", {"[{": "}"}]
    assert (await parse(json.dumps(value), BREATHE)).root == value


async def test_a_text_above_the_limit_is_refused_and_other_readers_are_named() -> None:
    shelf = await shelf_with("[" + "1," * (JSON_PARSE_LIMIT // 2) + "1]")
    with pytest.raises(ToolError, match=r"at most 4M.*artifact_head and artifact_grep"):
        await call(shelf, "artifact_json_get", path="$[0]")
    assert "1,1,1" in await call(shelf, "artifact_head", lines=1)


async def test_a_long_list_comes_in_parts_that_join() -> None:
    rows = [{"id": number, "text": "word " * (number % 60)} for number in range(120)]
    shelf = await shelf_with(rows)
    cursor: dict[str, int] = {}
    joined = ""
    for _ in range(200):
        told = await call(shelf, "artifact_json_get", path="$[*]", **cursor)
        assert estimate_tokens(told) <= 400
        joined += body(told, "artifact_json_get")
        more = re.search(r"(\d+) more: artifact_json_get with .*, path \$\[\*\], start (\d+)(?:, offset (\d+))?", told)
        if more is None:
            break
        assert int(more[1]) == len(rows) - int(more[2]) + 1
        cursor = {"start": int(more[2]), "offset": int(more[3] or 0)}
        joined += "\n" if not cursor["offset"] else ""
    assert [json.loads(line) for line in joined.split("\n")] == rows


async def test_a_large_value_is_not_written_out_to_show_its_beginning() -> None:
    shelf = await shelf_with({"rows": [{"id": number} for number in range(150_000)]})
    await call(shelf, "artifact_json_keys")
    begun = time.perf_counter()
    told = await call(shelf, "artifact_json_get", path="$")
    assert time.perf_counter() - begun < 0.1
    assert body(told, "artifact_json_get").startswith('{"rows": [{"id": 0}, {"id": 1}')
    assert re.search(r"1 more: artifact_json_get with call_id c1, path \$, start 1, offset \d+\.", told)


NO_PATH = [
    "$[?match(@.a, '(a+)+')]",
    "$[?search(@.a, 'a')]",
    "$[?@.a =~ /(a+)+/]",
    "$.a[",
    "$..",
    "$" + ".a" * 200,
    "$[?" + "(" * 150 + "@" + ")" * 40 + "]",
    "$.~",
    "$ | $.a",
    "$[?@.a in [1]]",
    "$[" + "9" * 30 + "]",
    "$[",
]


@pytest.mark.parametrize("path", NO_PATH)
async def test_what_is_no_plain_path_is_an_error_that_says_what_is(path: str) -> None:
    with pytest.raises(BadPath):
        Path(path, Budget(BREATHE))
    with pytest.raises(ToolError, match="Allowed: a JSONPath such as"):
        await call(await shelf_with(DOCUMENT), "artifact_json_get", path=path)


@pytest.mark.parametrize("path", HOSTILE_PATHS)
async def test_a_hostile_path_ends_in_time_and_others_run_meanwhile(path: str) -> None:
    # 32 values a row: the count of nodes must not keep in step with the looks at the clock.
    value = [{"a": [[number] * 26, {"b": {"c": [number]}}]} for number in range(20_000)]
    turns = 0
    longest = 0.0

    async def others() -> None:
        nonlocal turns, longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - before)
            turns += 1

    task = asyncio.create_task(others())
    found = Matches()
    begun = time.perf_counter()
    await Path(path, Budget(Breather(50))).matches(value, found)
    spent = time.perf_counter() - begun
    task.cancel()
    assert found.stopped in ("time", "nodes")
    assert spent < PATH_BUDGET_MS / 1_000 + 0.4
    assert turns >= spent / 0.3 - 1
    assert longest < 0.3


async def test_what_a_stopped_search_has_found_is_shown_with_a_note() -> None:
    shelf = await shelf_with([[number] * 10 for number in range(30_000)])
    told = await call(shelf, "artifact_json_get", path="$..*..*")
    assert body(told, "artifact_json_get").startswith("0\n0\n")
    assert "there may be more. Use a narrower path." in told
    assert "That was all." not in told


async def test_a_text_at_the_top_is_never_read_as_json_again() -> None:
    shelf = await shelf_with(json.dumps("[" * 100_000))
    assert (await shown(shelf, "get", path="$"))[0].startswith("[[[[")
    assert "0 matches" in await call(shelf, "artifact_json_get", path="$..a")
