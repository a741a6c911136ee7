"""Text that goes into a prompt: fixed, or worked out when the prompt is put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py_agent.model.errors import AgentError

#: Works a text out from the running dispatch's context, or from None where there is none: that branch is the fallback.
Evaluator = Callable[[Any], str]


class TokenizableError(AgentError):
    """An evaluator raised, or gave back something else than text: a programming error, never hidden by a default."""

    code = "bad_evaluator"


class Tokenizable:
    """A text, or an evaluator that makes one.

    Args:
        value: The text; or called with the context at assembly time, and with None where a text is wanted without one.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str | Evaluator) -> None:
        self._value = value

    @property
    def is_static(self) -> bool:
        """Whether the text is the same in every context."""
        return isinstance(self._value, str)

    def render(self, context: Any = None) -> str:
        """The text in this context.

        Raises:
            TokenizableError: The evaluator raised, or gave no text.
        """
        if isinstance(self._value, str):
            return self._value
        try:
            text = self._value(context)
        except Exception as error:
            raise TokenizableError(
                f"A dynamic text could not be worked out: {type(error).__name__}: {error}.",
                hint="Its evaluator must cope with every context, and with none.",
            ) from error
        if not isinstance(text, str):
            raise TokenizableError(
                f"A dynamic text came out as {type(text).__name__}.", hint="Its evaluator must give back text."
            )
        return text

    def tokens(self, count: Callable[[str], int], context: Any = None) -> int:
        """Tokens of the text in this context, as ``count`` tells them.

        Raises:
            TokenizableError: As ``render``.
        """
        return count(self.render(context))

    def __str__(self) -> str:
        return self.render()
