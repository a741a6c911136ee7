"""JSON from elsewhere is judged in a time that grows with its length, whatever it holds."""

from __future__ import annotations

import time

import pytest

from py_agent.model.safe_json import loads


@pytest.mark.parametrize("text", ['"' + '\\"' * 200_000, '"' * 200_001, '"a\\' * 100_000])
def test_a_string_without_an_end_is_refused_at_once(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(ValueError, match=r"levels|Unterminated"):
        loads("[" * 65 + text)
    assert time.perf_counter() - started < 2
