"""Tools: what a model may call, and the registry that says which of them a dispatch shows."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from py_agent.model.base import Record
from py_agent.model.coerce import NotMeant, coerce
from py_agent.model.errors import AgentError
from py_agent.model.prompt import ToolSpec

#: What a result is, and with it which readers open it when it is kept aside.
ResultKind = Literal["text", "json", "markdown"]


#: Marks an argument that may be given but is not declared: what the model needs it for tells of it.
UNDECLARED = "undeclared"


class ToolError(AgentError):
    """A tool refused or failed. Its message goes back to the model as the result of the call, never to the reader."""

    code = "tool_error"


class ToolArgs(Record):
    """Base of every tool's arguments: unknown names are refused, so that a misspelt one is not silently ignored."""

    model_config = ConfigDict(extra="forbid")


class Span(Record):
    """Lines of a text that belong to one passage.

    Attributes:
        passage: The passage's id.
        start, end: Line numbers, counted from 0, ``end`` exclusive. The passage's body only, without its header line.
    """

    passage: str
    start: int
    end: int


class ToolResult(Record):
    """What a tool's handler gives back.

    Attributes:
        text: The whole result. The harness decides whether the model sees it inline or as a handle.
        summary: A few words for the handle of a large result (``5 passages``).
        spans: Which lines of ``text`` are passages; reading them makes the passages citable.
        retrieved: Ids of the passages in ``text``, best first.
        kind: What the result is.
        stream: The rest of a result that is too large for the memory, in pieces of any size; it goes behind ``text``.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    text: str = ""
    summary: str = ""
    spans: tuple[Span, ...] = ()
    retrieved: tuple[str, ...] = ()
    kind: ResultKind = "text"
    stream: AsyncIterator[str] | None = Field(default=None, exclude=True)


#: A handler gets validated arguments and the running dispatch's context (``runner/contexts.py``).
Handler = Callable[[Any, Any], Awaitable[ToolResult]]


class Tool(Record):
    """A tool.

    Attributes:
        name: Unique in a registry; ``snake_case``.
        description: For the model: what it does and when to call it.
        brief: ``description`` in a few words, for small windows; empty: the same.
        args: The pydantic model of its arguments: ONE schema validates a call and is shown to the model.
        handler: Runs the call. Raises ``ToolError`` with a text that the model can act on.
        terminal: Its call proposes an end of the turn: gates judge it before it counts.
        reader: It reads spooled artifacts: its result is always shown inline, never spooled again.
        produces: Which kinds of result it may give: the readers of these are declared in its turns.
        pure: The same arguments bring the same result as long as the turn lasts: a repeated call is answered from the
            first one's result.
        effect: It changes something outside the turn (a memory, the reader's page, whatever a site's own tool does): it
            runs only on the reader's own words or approval.
        words: For a tool with an effect: the words of a call that must be the reader's own for it to run without
            asking; None: the reader is always asked.
        asks: For a tool with an effect: the question to the reader, in plain words; None: a general one.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str
    description: str
    brief: str = ""
    args: type[ToolArgs]
    handler: Handler
    terminal: bool = False
    reader: bool = False
    produces: tuple[ResultKind, ...] = ("text",)
    pure: bool = False
    effect: bool = False
    words: Callable[[Any], str] | None = None
    asks: Callable[[Any], str] | None = None

    def spec(self, *, brief: bool = False) -> ToolSpec:
        """The declaration that the model sees. A brief one does without the descriptions of the arguments."""
        parameters = schema_of(self.args)
        if brief:
            return ToolSpec(
                name=self.name, description=self.brief or self.description, parameters=_without_descriptions(parameters)
            )
        return ToolSpec(name=self.name, description=self.description, parameters=parameters)

    def parse(self, arguments: dict[str, Any] | None) -> ToolArgs:
        """Validates a call's arguments, after what is clearly meant was put into its type (``coerce``).

        Raises:
            ToolError: Names every argument that is missing, unknown or wrong, in words for the model.
        """
        schema = schema_of(self.args)
        try:
            return self.args.model_validate(coerce(arguments or {}, schema))
        except NotMeant as error:
            raise ToolError(f"{self.name}: {error}.", code="bad_arguments") from error
        except ValidationError as error:
            names = tuple(schema.get("properties", ()))
            problems = "; ".join(_problem(item, names) for item in error.errors())
            raise ToolError(f"{self.name}: {problems}.", code="bad_arguments") from error


def _problem(item: Any, names: tuple[str, ...]) -> str:
    where = ".".join(str(part) for part in item["loc"]) or "arguments"
    if item["type"] == "missing":
        return f"{where} is required"
    if item["type"] == "extra_forbidden":
        return f"{where} is no argument of this tool; it takes {', '.join(names) or 'none'}"
    return f"{where}: {item['msg']}"


@functools.cache
def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of ``model`` as small models read it best: references resolved, generated titles left out."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    for definition in definitions.values():
        # It comes from a docstring, which an optimised build does not have: prompts must not depend on the build.
        definition.pop("description", None)

    def clean(node: Any, inside_properties: bool = False, within: tuple[str, ...] = ()) -> Any:
        if isinstance(node, list):
            return [clean(item, within=within) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[-1]
            target = definitions[name]
            if name in within:  # it holds itself: what is in it has been told one level above
                return {"type": target.get("type", "object")}
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return clean({**target, **rest}, within=(*within, name))
        return {
            key: clean(value, inside_properties=key == "properties" and not inside_properties, within=within)
            for key, value in node.items()
            if inside_properties or key not in ("title", "additionalProperties")
            if not (inside_properties and value.get(UNDECLARED))
        }

    cleaned: dict[str, Any] = clean(schema)
    cleaned.pop("description", None)
    return cleaned


#: What a brief declaration keeps of a schema: names and types. A value out of bounds comes back with the bound.
_BRIEF_KEYS = ("type", "properties", "items", "required", "enum", "anyOf")


def _without_descriptions(node: Any, inside_properties: bool = False) -> Any:
    if isinstance(node, list):
        return [_without_descriptions(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_descriptions(value, inside_properties=key == "properties" and not inside_properties)
        for key, value in node.items()
        if inside_properties or key in _BRIEF_KEYS
    }


class ToolRegistry(BaseModel):
    """The tools of a turn in a fixed order.

    Attributes:
        tools: All of them, by name.
        hidden: Those that exist for the program only: the model neither sees nor may call them.
        catalogue: Those that are not declared but may be called through ``call_a_tool``: their declarations would cost
            every prompt tokens, and most turns need none of them.
        brief: Whether declarations are brief, for small windows.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    tools: dict[str, Tool] = Field(default_factory=dict)
    hidden: set[str] = Field(default_factory=set)
    catalogue: set[str] = Field(default_factory=set)
    brief: bool = False

    @classmethod
    def of(cls, tools: Iterable[Tool], catalogue: Iterable[Tool] = ()) -> ToolRegistry:
        """A registry of ``tools``, all visible, and of those of the ``catalogue``.

        Raises:
            ValueError: Two tools have the same name.
        """
        registry = cls()
        listed = tuple(catalogue)
        for tool in (*tools, *listed):
            if tool.name in registry.tools:
                raise ValueError(f"two tools are named {tool.name}")
            registry.tools[tool.name] = tool
        registry.catalogue = {tool.name for tool in listed}
        return registry

    def get(self, name: str) -> Tool | None:
        """The tool of this name, hidden or not; None if there is none."""
        return self.tools.get(name)

    def visible(self) -> Iterator[Tool]:
        """The tools that are declared to the model, in order."""
        return (
            tool for tool in self.tools.values() if tool.name not in self.hidden and tool.name not in self.catalogue
        )

    def in_catalogue(self) -> Iterator[Tool]:
        """The tools that may be called through ``call_a_tool``, in order."""
        return (tool for tool in self.tools.values() if tool.name in self.catalogue and tool.name not in self.hidden)

    def specs(self) -> tuple[ToolSpec, ...]:
        """The declarations of the visible tools."""
        return tuple(tool.spec(brief=self.brief) for tool in self.visible())
