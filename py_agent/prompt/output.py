"""What a completion is, taken apart; and the pieces of it that become certain while it streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from py_agent.model.prompt import CallSpec


@dataclass
class Piece:
    """What became certain: ``text`` for the reader, ``thinking``, or more of the text of a ``call``. What was held as a
    call and turns out to be none comes once more, as text.

    Attributes:
        text: What is new.
        number: Tells the calls of one output apart, counted from 0.
    """

    kind: Literal["text", "thinking", "call"]
    text: str
    number: int = 0


@dataclass
class Output:
    """A completion, taken apart.

    Attributes:
        text: What the reader may see, stripped.
        thinking: The model's thoughts, without their label.
        calls: Complete calls, in order.
        bad_calls: For each call that could not be taken, why, in words for the model.
        rejected: The tools that these calls name, where they name one.
        truncated: The token limit cut the output, or it ends inside a call: that call was not taken.
        degenerate: The model wrote filler tokens only.
    """

    text: str = ""
    thinking: str = ""
    calls: list[CallSpec] = field(default_factory=list)
    bad_calls: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    truncated: bool = False
    degenerate: bool = False

    @property
    def empty_answer(self) -> bool:
        """Nothing came of it: no text, no call, and none that was refused. There may be thoughts."""
        return not (self.text or self.calls or self.bad_calls or self.degenerate)
