"""The clock of a turn: tests and replays bring their own, a page its browser's time zones."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

#: The time now, in UTC.
Clock = Callable[[], dt.datetime]

#: Minutes that a time zone (an IANA name) is ahead of UTC at a moment; raises ``ValueError`` for a name that is none.
Offset = Callable[[str, dt.datetime], int]


def utc_now() -> dt.datetime:
    """The time now, in UTC."""
    return dt.datetime.now(dt.UTC)


def zone_offset(name: str, moment: dt.datetime) -> int:
    """Minutes from Python's own time zones. A page has none and brings its browser's.

    Raises:
        ValueError: There is no such time zone.
    """
    import zoneinfo

    try:
        delta = moment.astimezone(zoneinfo.ZoneInfo(name)).utcoffset()
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(name) from error
    assert delta is not None
    return int(delta.total_seconds() // 60)
