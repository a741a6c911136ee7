"""What a completion is, taken apart; and the pieces of it that become certain while it streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from py_agent.model.prompt import CallSpec


@dataclass
class Piece:
    """What became certain: ``text`` for the reader, ``thinking``, or more of the text of a ``call``.

    Attributes:
        text: What is new.
        number: Tells the calls of one output apart, counted from 0.
        quoted: For a call: whether this is inside a string in native quotes; the quotes themselves are left out.
    """

    kind: Literal["text", "thinking", "call"]
    text: str
    number: int = 0
    quoted: bool = False


@dataclass
class Output:
    """A completion, taken apart.

    Attributes:
        text: What the reader may see, stripped.
        thinking: The model's thoughts, without their label.
        calls: Complete calls, in order.
        bad_calls: For each call that could not be parsed, why.
        rejected: Names of calls that were recognised and refused: their arguments were no plain values.
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
