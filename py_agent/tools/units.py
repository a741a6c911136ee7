"""``convert_units``: the units that documentation talks about, exactly where they are exact.

A library with every unit of physics costs readers 300 kB; this is one table.
"""

from __future__ import annotations

from fractions import Fraction

from pydantic import Field

from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult
from py_agent.tools.calculate import show

NAME = "convert_units"

#: Units by quantity: how many of the first one in each. International definitions: the inch is 25.4 mm and the pound
#: 0.45359237 kg exactly; decimal prefixes of bytes are powers of 1,000, binary ones (KiB) of 1,024 (IEC 80000-13).
UNITS: dict[str, dict[str, Fraction]] = {
    "data": {
        **{name: Fraction(8 * 1000**power) for power, name in enumerate(("B", "kB", "MB", "GB", "TB", "PB"))},
        **{name: Fraction(8 * 1024**power) for power, name in enumerate(("KiB", "MiB", "GiB", "TiB", "PiB"), 1)},
        **{name: Fraction(1000**power) for power, name in enumerate(("bit", "kbit", "Mbit", "Gbit", "Tbit"))},
    },
    "time": {
        "ns": Fraction(1, 10**9),
        "us": Fraction(1, 10**6),
        "ms": Fraction(1, 1000),
        "s": Fraction(1),
        "min": Fraction(60),
        "h": Fraction(3600),
        "day": Fraction(86_400),
        "week": Fraction(604_800),
    },
    "length": {
        "mm": Fraction(1, 1000),
        "cm": Fraction(1, 100),
        "m": Fraction(1),
        "km": Fraction(1000),
        "in": Fraction(254, 10_000),
        "ft": Fraction(3048, 10_000),
        "yd": Fraction(9144, 10_000),
        "mi": Fraction(1_609_344, 1000),
    },
    "mass": {
        "mg": Fraction(1, 10**6),
        "g": Fraction(1, 1000),
        "kg": Fraction(1),
        "t": Fraction(1000),
        "oz": Fraction(45_359_237, 16 * 10**8),
        "lb": Fraction(45_359_237, 10**8),
    },
    "temperature": {"C": Fraction(1), "F": Fraction(5, 9), "K": Fraction(1)},
    "frequency": {"Hz": Fraction(1), "kHz": Fraction(1000), "MHz": Fraction(10**6), "GHz": Fraction(10**9)},
    "angle": {"deg": Fraction(1), "turn": Fraction(360)},
}

#: What a temperature is above absolute zero at 0 of each unit, in kelvin.
_ZERO = {"C": Fraction(27_315, 100), "K": Fraction(0), "F": Fraction(27_315, 100) - Fraction(160, 9)}

_OTHER_NAMES = {
    "byte": "B", "bytes": "B", "kilobyte": "kB", "kilobytes": "kB", "kb": "kB", "megabyte": "MB", "megabytes": "MB",
    "mb": "MB", "gigabyte": "GB", "gigabytes": "GB", "gb": "GB", "terabyte": "TB", "terabytes": "TB", "tb": "TB",
    "kibibyte": "KiB", "kibibytes": "KiB", "kib": "KiB", "mebibyte": "MiB", "mebibytes": "MiB", "mib": "MiB",
    "gibibyte": "GiB", "gibibytes": "GiB", "gib": "GiB", "bits": "bit", "second": "s", "seconds": "s", "sec": "s",
    "minute": "min", "minutes": "min", "hour": "h", "hours": "h", "days": "day", "weeks": "week",
    "millisecond": "ms", "milliseconds": "ms", "microsecond": "us", "microseconds": "us", "µs": "us",
    "nanosecond": "ns", "nanoseconds": "ns", "meter": "m", "meters": "m", "metre": "m", "metres": "m",
    "kilometer": "km", "kilometers": "km", "inch": "in", "inches": "in", "foot": "ft", "feet": "ft", "yard": "yd",
    "yards": "yd", "mile": "mi", "miles": "mi", "gram": "g", "grams": "g", "kilogram": "kg", "kilograms": "kg",
    "pound": "lb", "pounds": "lb", "ounce": "oz", "ounces": "oz", "celsius": "C", "°c": "C", "fahrenheit": "F",
    "°f": "F", "kelvin": "K", "hertz": "Hz", "degree": "deg", "degrees": "deg", "turns": "turn",
}  # fmt: skip


class ConvertArgs(ToolArgs):
    """Arguments of ``convert_units``."""

    value: float = Field(description="How many.")
    source: str = Field(description="Of which unit, such as MiB, ms, km, lb, F.")
    target: str = Field(description="In which unit.")


def convert(value: float, source: str, target: str) -> Fraction:
    """``value`` of ``source`` in ``target``, exactly.

    Raises:
        ToolError: A unit is unknown, or the two measure different things.
    """
    (kind, first), (other, second) = _unit(source), _unit(target)
    if kind != other:
        raise ToolError(f"{first} measures {kind} and {second} measures {other}.", code="bad_arguments")
    amount = Fraction(repr(value))
    if kind == "temperature":
        return (amount * UNITS[kind][first] + _ZERO[first] - _ZERO[second]) / UNITS[kind][second]
    return amount * UNITS[kind][first] / UNITS[kind][second]


def _unit(name: str) -> tuple[str, str]:
    text = name.strip()
    for candidate in (text, _OTHER_NAMES.get(text.lower(), "")):
        for kind, units in UNITS.items():
            if candidate in units:
                return kind, candidate
    known = ", ".join(unit for units in UNITS.values() for unit in units)
    raise ToolError(f"There is no unit {text[:30]!r} here. Known: {known}.", code="bad_arguments")


def convert_units() -> Tool:
    """The tool."""

    async def handler(args: ConvertArgs, _context: object) -> ToolResult:
        result = convert(args.value, args.source, args.target)
        shown = show(int(result) if result.denominator == 1 else float(result))
        return ToolResult(text=f"{show(args.value)} {args.source} = {shown} {args.target}")

    return Tool(
        name=NAME,
        description="Converts between units of data, time, length, mass, temperature and frequency.",
        args=ConvertArgs,
        handler=handler,
        pure=True,
    )
