"""Expressions that are short and would cost minutes or gigabytes."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from py_agent.model.tool import ToolError
from py_agent.tools.calculate import evaluate


@pytest.mark.parametrize(
    "expression",
    [
        "round(7, -3000000)",
        "round(7, digits=-3000000)",
        "(1).to_bytes(99999999)",
        "pi.hex().zfill(99999999)",
        "e.real",
        "(1).bit_length()",
    ],
)
def test_only_arithmetic_is_worked_out_and_at_once(expression: str) -> None:
    started = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(ToolError):
            evaluate(expression)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("expression", "value"), [("round(7.6)", 8), ("round(pi, 2)", 3.14), ("round(1234, -2)", 1200)]
)
def test_rounding_still_rounds(expression: str, value: float) -> None:
    assert evaluate(expression) == value
