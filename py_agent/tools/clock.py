"""Time and dates: what time it is, and what lies between two days."""

from __future__ import annotations

import calendar
import datetime as dt
from typing import Literal

from pydantic import Field

from py_agent.model.clock import Clock, Offset, utc_now, zone_offset
from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolResult

TIME = "get_current_time"
DATES = "date_arithmetic"

#: Years that a calculation may reach: what the calendar of the machine has.
FIRST_YEAR, LAST_YEAR = 1, 9999


class TimeArgs(ToolArgs):
    """Arguments of ``get_current_time``."""

    timezone: str = Field(default="UTC", description="An IANA name such as Europe/Berlin, or UTC.")


class DateArgs(ToolArgs):
    """Arguments of ``date_arithmetic``."""

    date: str = Field(description="A day as YYYY-MM-DD.")
    other: str = Field(default="", description="A second day, to get the days between the two.")
    amount: int = Field(default=0, ge=-1_000_000, le=1_000_000, description="How much to add to the date.")
    unit: Literal["days", "weeks", "months", "years"] = Field(default="days", description="Of what.")


def get_current_time(clock: Clock = utc_now, offset: Offset = zone_offset) -> Tool:
    """The tool that tells the time."""

    async def handler(args: TimeArgs, _context: object) -> ToolResult:
        now = clock()
        name = args.timezone.strip()
        try:
            minutes = 0 if name.upper() in ("UTC", "GMT", "Z") else offset(name, now)
        except ValueError as error:
            raise ToolError(
                f"There is no time zone {name[:60]!r}. Use a name such as Europe/Berlin or UTC.", code="bad_arguments"
            ) from error
        local = now + dt.timedelta(minutes=minutes)
        sign = "-" if minutes < 0 else "+"
        ahead = f" (UTC{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d})" if minutes else ""
        return ToolResult(text=f"{name}: {_long(local.date())} {local:%H:%M}{ahead}")

    return Tool(name=TIME, description="Tells the current date and time.", args=TimeArgs, handler=handler)


def date_arithmetic() -> Tool:
    """The tool that counts days."""

    async def handler(args: DateArgs, _context: object) -> ToolResult:
        date = _day(args.date)
        if args.other:
            other = _day(args.other)
            days = (other - date).days
            return ToolResult(text=f"From {_long(date)} to {_long(other)}: {days} days.")
        return ToolResult(
            text=f"{_long(date)} plus {args.amount} {args.unit}: {_long(add(date, args.amount, args.unit))}"
        )

    return Tool(
        name=DATES,
        description="Adds days, weeks, months or years to a date, or counts the days between two dates.",
        args=DateArgs,
        handler=handler,
        pure=True,
    )


def add(date: dt.date, amount: int, unit: str) -> dt.date:
    """``date`` and ``amount`` of ``unit``. A month later is the same day, or the month's last where it has none.

    Raises:
        ToolError: The result is no year that the calendar has.
    """
    try:
        if unit in ("days", "weeks"):
            return date + dt.timedelta(days=amount * (7 if unit == "weeks" else 1))
        months = date.year * 12 + date.month - 1 + amount * (12 if unit == "years" else 1)
        year, month = divmod(months, 12)
        if not FIRST_YEAR <= year <= LAST_YEAR:
            raise OverflowError
        return date.replace(year=year, month=month + 1, day=min(date.day, calendar.monthrange(year, month + 1)[1]))
    except OverflowError as error:
        raise ToolError(
            f"The result is not between the years {FIRST_YEAR} and {LAST_YEAR}.", code="bad_arguments"
        ) from error


def _day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text.strip()[:10])
    except ValueError as error:
        raise ToolError(f"{text[:40]!r} is no day; write it as YYYY-MM-DD.", code="bad_arguments") from error


_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def _long(date: dt.date) -> str:
    """A day with its week day, in English whatever the machine's language."""
    return f"{_DAYS[date.weekday()]}, {date.day} {_MONTHS[date.month - 1]} {date.year}"
