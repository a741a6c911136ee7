"""A piece of knowledge that stands in a prompt without the model having asked for it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from py_agent.model.base import Record

#: How far a text may be believed. ``first-party``: the site's own pages. ``third-party-public``: anybody may have
#: written it (comments, other sites). ``third-party-private``: somebody else wrote it to the reader. None may command.
TrustTier = Literal["first-party", "third-party-public", "third-party-private"]


class Retrievable(Record):
    """One such piece.

    Attributes:
        id: Unique in its turn; for a passage, the passage's id.
        content: Plain text.
        trust: Required, never inferred: a default would be the most convenient one.
        source: Where it comes from: an address, or a page of the index.
        kind: ``passage``, or what an integrator calls it; it stands in the mark, so it is one plain word.
        score: 0 to 1, for ordering; higher is better.
    """

    id: str
    content: str
    trust: TrustTier
    source: str
    kind: str = Field(default="passage", pattern=r"^[a-z][a-z_]{0,30}$")
    score: float = Field(default=0.0, ge=0, le=1)
