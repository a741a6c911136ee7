"""A memory: what outlives its thread because the reader wanted it to."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from py_agent.model.base import Record
from py_agent.model.record import now_ms

#: Whose words a memory is. ``reader``: the reader's own; ``site``: the owner's; ``model``: worked out by a model, and
#: then approved.
MemoryTrust = Literal["reader", "site", "model"]

#: Characters of one memory at most: it stands in prompts.
MAX_MEMORY_CHARS = 500


class Memory(Record):
    """One memory.

    Attributes:
        id: Unique in the store.
        content: Plain text, at most ``MAX_MEMORY_CHARS`` characters.
        trust: Whose words it is.
        source: Id of the turn that it comes from, or the address of a page.
        confidence, importance: 0 to 1.
        created_at: Milliseconds since the epoch, UTC.
    """

    id: str
    content: str = Field(min_length=1, max_length=MAX_MEMORY_CHARS)
    trust: MemoryTrust
    source: str
    confidence: float = Field(default=1.0, ge=0, le=1)
    importance: float = Field(default=0.5, ge=0, le=1)
    created_at: int = Field(default_factory=now_ms)
