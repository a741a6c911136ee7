"""A thought: what the model is given, or gave itself, to go on from. Thoughts of earlier turns never come back."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, model_validator

from py_agent.model.base import Record
from py_agent.model.identity import ASSISTANT, Identity
from py_agent.model.tokenizable import Tokenizable

#: ``plan``: what the planner committed to. ``nudge``: a correction in the first person. ``thinking``: the model's own.
ThoughtKind = Literal["plan", "nudge", "thinking"]


class Thought(Record):
    """One thought of a turn.

    Attributes:
        id: Unique in its turn.
        kind: See ``ThoughtKind``.
        content: Fixed, or worked out against the live dispatch when the prompt is put together, once: what stands in a
            prompt is never rewritten.
        identity: Whose thought it is.
        payload: What an engine wants back unchanged with its own thoughts (a signature); opaque.
        replay: Which engine the payload is for; required with a payload, since another engine must not get it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    id: str
    kind: ThoughtKind
    content: Tokenizable
    identity: Identity = ASSISTANT
    payload: Any = None
    replay: str = ""

    @model_validator(mode="after")
    def _tagged(self) -> Thought:
        if self.payload is not None and not self.replay:
            raise ValueError("a payload needs the name of the engine that may get it back, in `replay`")
        if self.payload is None and self.content.is_static and not self.content.render().strip():
            raise ValueError("a thought without a payload needs content")
        return self
