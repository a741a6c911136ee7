"""``calculate``: arithmetic without ``eval``, bounded in length, size and time."""

from __future__ import annotations

import math
import re
from typing import Any

from pydantic import Field

from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult

NAME = "calculate"

#: Characters of an expression at most: nobody asks a docs chatbot for more.
MAX_EXPRESSION_CHARS = 200
#: Digits of a whole result at most: Python's own limit for printing is 4,300, and a reader reads 40 at best.
MAX_DIGITS = 300
#: Base and exponent of a power at most: together they stay below 10 000 digits, a millisecond of work.
MAX_BASE, MAX_EXPONENT = 1_000_000, 1_000


def _round(value: float, digits: int = 0) -> float:
    # Python works out 10 ** -digits for a whole number: minutes for a large one.
    if abs(digits) > MAX_DIGITS:
        raise ToolError("That is no number of digits to round to.", code="bad_arguments")
    return round(value, digits) if digits else round(value)


_FUNCTIONS: dict[str, Any] = {
    name: getattr(math, name)
    for name in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "log", "log2", "log10", "exp", "floor", "ceil")
} | {"abs": abs, "round": _round, "min": min, "max": max}
#: What an expression may be made of, by Python's names.
_NODES = frozenset({"Expr", "Constant", "Num", "UnaryOp", "BinOp", "Call", "Name"})
_NAMES = {"pi": math.pi, "e": math.e}
_KNOWN = {*_FUNCTIONS, *_NAMES}
_OTHER = re.compile(r"[^\w\s.+\-*/%(),]")
_WORDS = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


class CalculateArgs(ToolArgs):
    """Arguments of ``calculate``."""

    expression: str = Field(
        min_length=1, max_length=MAX_EXPRESSION_CHARS, description="Such as (3 + 4) * 2 ** 8 / sqrt(2)."
    )


def evaluate(expression: str) -> int | float:
    """The value of an arithmetic expression.

    Raises:
        ToolError: It is none, has no value, or is too large.
    """
    import ast
    import operator

    from simpleeval import InvalidExpression, SimpleEval

    def power(base: float, exponent: float) -> float:
        if abs(base) > MAX_BASE or abs(exponent) > MAX_EXPONENT:
            raise ToolError("The power is too large.", code="bad_arguments")
        result: float = base**exponent
        return result

    def times(first: float, second: float) -> float:
        if isinstance(first, int | float) and isinstance(second, int | float):
            return first * second
        raise ToolError("Only numbers can be multiplied.", code="bad_arguments")

    operators = {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: times,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: power,
        ast.USub: operator.neg,
        ast.UAdd: operator.pos,
    }
    text = expression.replace("^", "**").replace("×", "*").replace("÷", "/").replace("−", "-").replace(",", ", ")
    unknown = _OTHER.search(text) or next((word for word in _WORDS.findall(text) if word not in _KNOWN), None)
    if unknown is not None:
        raise ToolError(_refusal(f"{unknown if isinstance(unknown, str) else unknown[0]!r} is not part of one"))
    try:
        evaluator = SimpleEval(operators=operators, functions=_FUNCTIONS, names=_NAMES)
        # Numbers have methods, and some of those make a gigabyte: (1).to_bytes(10 ** 9), pi.hex().zfill(10 ** 9).
        evaluator.nodes = {kind: run for kind, run in evaluator.nodes.items() if kind.__name__ in _NODES}
        value = evaluator.eval(text)
    except ToolError:
        raise
    except ZeroDivisionError as error:
        raise ToolError("The expression divides by zero.", code="bad_arguments") from error
    except (InvalidExpression, SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise ToolError(_refusal(str(error)[:120]), code="bad_arguments") from error
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ToolError("The result is no number.", code="bad_arguments")
    if isinstance(value, float) and not math.isfinite(value):
        raise ToolError("The result is not finite.", code="bad_arguments")
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise ToolError(f"The result has more than {MAX_DIGITS} digits.", code="bad_arguments")
    return value


def _refusal(why: str) -> str:
    return (
        f"This is no arithmetic expression: {why}. Allowed: numbers, + - * / // % **, brackets, and "
        f"{', '.join(sorted(_FUNCTIONS))}, pi, e."
    )


def show(value: int | float) -> str:
    """A number as a reader writes it: whole where it is whole, without the noise of binary fractions."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def calculate() -> Tool:
    """The tool."""

    async def handler(args: CalculateArgs, _context: object) -> ToolResult:
        return ToolResult(text=f"{args.expression} = {show(evaluate(args.expression))}")

    return Tool(
        name=NAME, description="Works out an arithmetic expression.", args=CalculateArgs, handler=handler, pure=True
    )
