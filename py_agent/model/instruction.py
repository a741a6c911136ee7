"""A standing instruction: what holds for every turn."""

from __future__ import annotations

from pydantic import Field

from py_agent.model.base import Record
from py_agent.model.identity import OWNER, Identity
from py_agent.model.record import now_ms

#: Characters of one instruction at most: it stands in every prompt.
MAX_INSTRUCTION_CHARS = 300


class StandingInstruction(Record):
    """One instruction.

    Attributes:
        id: Unique in the store; empty for one from the settings.
        text: Plain text, one or two sentences.
        author: The site's owner, whose instructions stand in the system message; or the reader, whose wishes stand
            beside the question and can change no rule.
        created_at: Milliseconds since the epoch, UTC.
    """

    id: str = ""
    text: str = Field(min_length=1, max_length=MAX_INSTRUCTION_CHARS)
    author: Identity = OWNER
    created_at: int = Field(default_factory=now_ms)
