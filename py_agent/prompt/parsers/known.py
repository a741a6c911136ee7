"""The tools that a completion may call, as far as a parser needs to know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from py_agent.model.prompt import ToolSpec


class KnownTools:
    """Names of tools, each with the names of its parameters in declared order where they are known.

    Args:
        tools: Declarations, or names with the names of their parameters.
    """

    def __init__(self, tools: Iterable[ToolSpec] | Mapping[str, Sequence[str]] = ()) -> None:
        if not isinstance(tools, Mapping):
            tools = {spec.name: tuple(spec.parameters.get("properties", ())) for spec in tools}
        self.parameters: dict[str, tuple[str, ...]] = {name: tuple(names) for name, names in tools.items()}

    def __contains__(self, name: str) -> bool:
        return name in self.parameters

    def __bool__(self) -> bool:
        return bool(self.parameters)

    def resolve(self, name: str) -> str:
        """The tool that a written name means: its last part, where it is doubled (``f:f``) or has a namespace
        (``docs:f``, ``functions.f``). Never another name than one that stands there.
        """
        last = name.strip().rstrip(":").rsplit(":", 1)[-1].strip()
        tail = last.rsplit(".", 1)[-1]
        return tail if last not in self and tail in self else last

    def starts(self, text: str) -> bool:
        """Whether ``text`` is the beginning of a known name, or one."""
        return any(name.startswith(text) for name in self.parameters)
