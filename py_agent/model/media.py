"""Media beside a message's text: a typed place for engines that take them. No engine of this version does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from py_agent.model.base import Record
from py_agent.model.retrievable import TrustTier

MediaKind = Literal["image", "audio", "video", "document"]


#: Brings the bytes when an engine asks for them; raises ``StorageError`` when they are gone.
MediaReader = Callable[[], Awaitable[bytes]]


class Media(Record):
    """One attachment.

    Attributes:
        kind: See ``MediaKind``.
        mime: A bare type and subtype (``image/png``).
        trust: Whose it is; see ``TrustTier``.
        read: Brings the bytes.
        text: What it shows or says, for engines that take text only; empty: nobody has said.
    """

    kind: MediaKind
    mime: str
    trust: TrustTier
    read: MediaReader
    text: str = ""
