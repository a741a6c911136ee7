"""What a dialect is: how a prompt becomes the text that a model was trained on."""

from __future__ import annotations

import re
from typing import Protocol

from py_agent.model.prompt import CallSpec, Prompt
from py_agent.prompt.tokens import TokenCounter


class Dialect(Protocol):
    """One wire format. What a model writes back is taken apart by ``prompt/splitter.py``, which knows all of them."""

    @property
    def name(self) -> str:
        """As ``EngineInfo.dialect`` has it."""
        ...

    @property
    def control(self) -> re.Pattern[str]:
        """Finds the control tokens: each is one token of the model, whatever it looks like."""
        ...

    def render_parts(self, prompt: Prompt) -> list[str]:
        """The prompt in parts, a message each: what stands in the parts of one prompt stands in those of the next."""
        ...

    def render_call(self, call: CallSpec) -> str:
        """A call as the model writes it."""
        ...


def count_parts(dialect: Dialect, parts: list[str], count: TokenCounter) -> int:
    """Tokens of a rendered prompt: its control tokens, and what ``count`` says of the text between them."""
    total = 0
    for part in parts:
        text, tokens = dialect.control.subn("", part)
        total += tokens + count(text)
    return total
