"""What a model may search for, and that no pattern takes long."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_agent.artifacts.grep import PATTERN_BUDGET_MS
from py_agent.artifacts.patterns import MAX_PATTERN_CHARS, BadPattern, compile_pattern
from py_agent.model.tool import ToolError
from tests.artifacts.shelves import body, call, kept

TEXT = "\n".join(
    ["Install it:", "pip install lantern", "cache.ttl = 60", "The CACHE is warm", "print(x)", "a+b", "end"]
)


async def lines(pattern: str, text: str = TEXT, **arguments: int) -> list[str]:
    shown = await call(await kept(text, reader_tokens=800), "artifact_grep", pattern=pattern, **arguments)
    return body(shown, "artifact_grep").split("\n") if "[artifact_grep" in shown else []


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("cache", ["3: cache.ttl = 60", "4: The CACHE is warm"]),
        ("cache.ttl|pip", ["2: pip install lantern", "3: cache.ttl = 60"]),
        ("[0-9]+", ["3: cache.ttl = 60"]),
        (r"\d\d", ["3: cache.ttl = 60"]),
        ("pip.*lantern", ["2: pip install lantern"]),
        (r"print\(", ["5: print(x)"]),
        (r"a\+b", ["6: a+b"]),
        ("[+(]", ["5: print(x)", "6: a+b"]),
        ("[^a-zA-Z :.=]", ["3: cache.ttl = 60", "5: print(x)", "6: a+b"]),
        (r"\s", ["1: Install it:", "2: pip install lantern", "3: cache.ttl = 60", "4: The CACHE is warm"]),
        ("l{2}", ["1: Install it:", "2: pip install lantern"]),
        ("warme?", ["4: The CACHE is warm"]),
        ("{", []),
        ("nothing of it", []),
    ],
)
async def test_what_is_allowed_finds_its_lines(pattern: str, found: list[str]) -> None:
    assert await lines(pattern) == found


REFUSED = [
    "(a+)+$",
    "a(b)",
    "^a",
    "a$",
    "a+b+",
    "a**",
    "+a",
    "a||b",
    "|a",
    "[a",
    "[z-a]",
    r"\1",
    r"\b",
    "a\\",
    "x{900}",
]
ALSO_REFUSED = ["x{9,2}", "(?=a)", "(?P<n>a)", "a\nb", "a" * (MAX_PATTERN_CHARS + 1), r"[\W]"]


@pytest.mark.parametrize("pattern", [*REFUSED, *ALSO_REFUSED])
async def test_anything_else_is_an_error_that_says_what_is_allowed(pattern: str) -> None:
    shelf = await kept(TEXT)
    with pytest.raises(ToolError, match=r"Allowed: plain text") as raised:
        await call(shelf, "artifact_grep", pattern=pattern)
    assert raised.value.code == "bad_pattern"
    assert shelf.unread == ("c1",)


@settings(deadline=None)
@given(st.text(alphabet="ab.|[]^-\\{}0123,*+?()$dwsDWS\n é", max_size=20), st.text(max_size=80))
def test_a_pattern_is_refused_or_means_what_the_standard_library_says(pattern: str, text: str) -> None:
    try:
        compiled = compile_pattern(pattern, ignore_case=False)
    except BadPattern:
        return
    line = text.replace("\n", " ")
    try:
        usual = re.compile(pattern)
    except re.error:
        return  # a brace or a bracket that we take as a plain sign
    if "[" in pattern or "\\" in pattern or "{" in pattern:
        return  # classes never take a line feed here, and have no warnings about their look
    found, expected = compiled.expression.search(line), usual.search(line)
    assert (found and found.span()) == (expected and expected.span())


async def test_a_full_read_counts_the_rest_and_goes_on_there() -> None:
    text = "".join(f"row {number} of the cache\n" for number in range(1, 301))
    shelf = await kept(text)
    seen: list[str] = []
    start, rounds = 1, 0
    while start:
        shown = await call(shelf, "artifact_grep", pattern="cache", start=start)
        seen += body(shown, "artifact_grep").split("\n")
        more = re.search(r"(\d+) more: artifact_grep with call_id c1, pattern cache, start (\d+)", shown)
        assert more is None or int(more[1]) == 300 - len(seen)
        start, rounds = int(more[2]) if more else 0, rounds + 1
    assert seen == [f"{number}: row {number} of the cache" for number in range(1, 301)]
    assert rounds > 5


async def test_a_match_is_found_wherever_a_long_line_is_cut() -> None:
    for at in (0, 490, 495, 500, 16_380, 65_530, 65_536, 131_070, 199_994):
        text = "a short line\n" + "x" * at + "needle" + "x" * (199_994 - at) + "\nand an end"
        for pattern in ("needle", "needl.", "ne+dle"):
            found = await lines(pattern, text)
            assert len(found) == 1, (at, pattern)
            assert found[0].startswith("2")
            assert "needle" in found[0]
            assert len(found[0]) < 300


async def test_the_place_in_a_long_line_can_be_read_there() -> None:
    text = "x" * 70_000 + " the needle lies here " + "x" * 70_000
    shelf = await kept(text, reader_tokens=400)
    shown = await call(shelf, "artifact_grep", pattern="needle")
    place = re.search(r"1 from character (\d+):", shown)
    assert place is not None
    assert "needle" in await call(shelf, "artifact_cat", start=1, offset=int(place[1]) - 1)


@pytest.mark.parametrize("pattern", ["[ab]*c", "a{0,500}!", ".*!"])
async def test_a_search_is_over_when_its_time_is_up_and_says_how_far_it_came(pattern: str) -> None:
    shelf = await kept("a" * 4_000_000)
    begun = time.perf_counter()
    shown = await call(shelf, "artifact_grep", pattern=pattern)
    assert time.perf_counter() - begun < PATTERN_BUDGET_MS / 1_000 * 3
    assert "No line of c1 before line 1" in shown
    going_on = re.search(r"go on with start 1, offset (\d+)", shown)
    assert going_on is not None
    assert int(going_on[1]) > 10_000
