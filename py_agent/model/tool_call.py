"""A tool call as the harness runs it, and the checksum by which equal calls are known."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from py_agent.model.base import Record


def checksum(tool: str, arguments: dict[str, Any]) -> str:
    """sha256 (hex) of the canonical JSON of a call: equal for equal calls, whatever the order of their arguments."""
    canonical = json.dumps([tool, arguments], sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


class ToolCall(Record):
    """One call of the turn, after it ran.

    Attributes:
        id: Short and unique in its turn (``c1``): the model names results by it.
        tool, arguments: As called.
        key: Equal for equal calls, whatever the spelling of their arguments: the checksum of the validated call, or of
            the call as written where it was refused.
        shown: What the model sees of the result.
        is_error: Whether ``shown`` is an error text.
        ran: Whether the tool's handler was entered; False where the call was refused at the door.
        spool_key: Where the whole result lies, if it is not all in ``shown``.
    """

    id: str
    tool: str
    arguments: dict[str, Any]
    shown: str
    key: str = ""
    is_error: bool = False
    ran: bool = True
    spool_key: str | None = None

    @property
    def checksum(self) -> str:
        """``key``, or the function of this name where there is none."""
        return self.key or checksum(self.tool, self.arguments)
