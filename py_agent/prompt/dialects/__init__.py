"""Model dialects: how messages and tools become the text that a model was trained on."""

from __future__ import annotations

from py_agent.model.errors import ConfigError
from py_agent.model.prompt import Prompt
from py_agent.prompt.dialects.base import Dialect, count_parts
from py_agent.prompt.dialects.chatml import ChatMl
from py_agent.prompt.dialects.gemma4 import Gemma4

__all__ = ["DIALECTS", "Dialect", "count_parts", "dialect", "render"]

#: The dialects by name. An engine that takes messages and gives parsed chunks has ``none``: its prompts are rendered as
#: ``gemma4`` for measuring and for the trace.
DIALECTS: dict[str, Dialect] = {"gemma4": Gemma4(), "chatml": ChatMl()}
DIALECTS["none"] = DIALECTS["gemma4"]


def dialect(name: str) -> Dialect:
    """The dialect of this name.

    Raises:
        ConfigError: There is none.
    """
    try:
        return DIALECTS[name]
    except KeyError:
        raise ConfigError(
            f"There is no dialect {name!r}.", hint=f"An engine names one of {', '.join(DIALECTS)}.", code="no_dialect"
        ) from None


def render(prompt: Prompt, name: str = "gemma4") -> str:
    """The prompt as a model of this dialect reads it."""
    return "".join(dialect(name).render_parts(prompt))
