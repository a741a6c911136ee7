"""What all forms share: the tools that may be called, and what a piece of text turned out to be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from py_agent.model.prompt import CallSpec, ToolSpec


class BadCall(ValueError):
    """The text is no complete call. The message says where it stops making sense, in words for the model."""


@dataclass
class Found:
    """What a text held.

    Attributes:
        calls: Complete calls, in order.
        rejected: Names of calls that were recognised and refused, with the reason in words for the model.
    """

    calls: list[CallSpec] = field(default_factory=list)
    rejected: list[tuple[str, str]] = field(default_factory=list)


class Tools:
    """The tools of a dispatch, as far as parsing needs them."""

    def __init__(self, specs: Iterable[ToolSpec] = ()) -> None:
        self._parameters = {spec.name: tuple(spec.parameters.get("properties", {})) for spec in specs}

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def may_begin(self, text: str) -> bool:
        """Whether a tool's name begins with ``text``."""
        return any(name.startswith(text) for name in self._parameters)

    def parameters(self, name: str) -> tuple[str, ...]:
        """Names of a tool's parameters in their order; empty for an unknown tool."""
        return self._parameters.get(name, ())


def plain_name(name: str) -> str:
    """A tool's name without namespaces and doublings: ``docs:search_docs:search_docs`` is ``search_docs``."""
    return name.rstrip(":.").rsplit(":", 1)[-1].rsplit(".", 1)[-1]
