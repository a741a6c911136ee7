"""Time zones of the page: Python has none there, the browser has all of them."""

from __future__ import annotations

import datetime as dt
import re

import js
from pyodide.ffi import JsException, to_js

_OFFSET = re.compile(r"GMT(?:([+-])(\d\d):(\d\d))?")


def zone_offset(name: str, moment: dt.datetime) -> int:
    """Minutes that a time zone is ahead of UTC at ``moment``; see ``model.clock.Offset``.

    Raises:
        ValueError: The browser knows no such time zone.
    """
    options = to_js({"timeZone": name, "timeZoneName": "longOffset"}, dict_converter=js.Object.fromEntries)
    try:
        parts = js.Intl.DateTimeFormat.new("en-US", options).formatToParts(js.Date.new(moment.timestamp() * 1_000))
    except JsException as error:
        raise ValueError(name) from error
    told = next(str(part.value) for part in parts if part.type == "timeZoneName")
    match = _OFFSET.fullmatch(told)
    if match is None:
        raise ValueError(name)
    minutes = int(match[2] or 0) * 60 + int(match[3] or 0)
    return -minutes if match[1] == "-" else minutes
