"""What a text that should have been a call is, when it is none."""

from __future__ import annotations


class BadCall(ValueError):
    """The text is no complete call. The message says where it stops making sense, in words for the model.

    Attributes:
        name: The tool that the text names; empty where it names none.
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name
