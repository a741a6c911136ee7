"""The errors of the product. Each says what happened, what it means and what to do next.

AgentError
  EngineError       the engine could not generate (engines/)
  SearchIndexError  the index is missing, damaged, or of another format (search/)
  StorageError      the database or the spool refused (storage/)
  WindowTooSmall    the prompt that cannot be cut further does not fit the window (context/)
  ConfigError       a setting is unknown or has a value that cannot work
"""

from __future__ import annotations


class AgentError(Exception):
    """What every layer raises, and what crosses to the page as ``{"code", "message", "hint"}``.

    Args:
        message: What happened and what it means, one or two sentences for a person.
        hint: What to do next.
        code: A stable snake_case name that programs may test.
    """

    code = "agent_error"

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code

    def to_json(self) -> dict[str, str]:
        """The form in which the error crosses a worker boundary."""
        return {"code": self.code, "message": self.message, "hint": self.hint}

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class EngineError(AgentError):
    """The engine failed. Codes: overflow, out_of_memory, lost, refused, cut, empty, stalled, bad_call, load_failed."""

    code = "engine_error"


class SearchIndexError(AgentError):
    """The index is missing, damaged or of a format that this version cannot read."""

    code = "index_error"


class StorageError(AgentError):
    """The database or the spool refused. Codes: busy, newer, damaged, full, unavailable."""

    code = "storage_error"


class WindowTooSmall(AgentError):
    """The prompt does not fit the context window, and nothing in it may be cut."""

    code = "window_too_small"


class ConfigError(AgentError):
    """A setting is unknown, or its value cannot work."""

    code = "config_error"
