"""What an engine gets: messages and tools, before any dialect is rendered; and what comes back, chunk by chunk."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from py_agent.model.base import Record
from py_agent.model.media import Media

Role = Literal["system", "user", "model", "tool"]
EndReason = Literal["stop", "length", "cancelled"]


class ToolSpec(Record):
    """A tool as the model sees it: one declaration in the prompt. ``parameters`` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class CallSpec(Record):
    """A tool call as it stands in a prompt or comes out of a parser."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class PromptMessage(Record):
    """One message of a prompt.

    Attributes:
        role: ``model`` for the assistant, ``tool`` for the result of a call.
        content: The text, with every control token of the dialect already broken (prompt/envelopes).
        calls: The calls that a ``model`` message made, in order.
        name: For ``tool``: the tool that answered.
        attachments: Media beside the text; an engine that does not take their kind refuses the prompt.
    """

    role: Role
    content: str = ""
    calls: tuple[CallSpec, ...] = ()
    name: str | None = None
    attachments: tuple[Media, ...] = ()


class Prompt(Record):
    """All that an engine gets for one dispatch. The first message is the system message."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    thinking: bool = False


class GenerateOptions(Record):
    """How to generate. ``max_output_tokens`` is the generation cap, held back from the window as the output reserve."""

    max_output_tokens: int = 1_024


class Usage(Record):
    """Tokens that a dispatch cost, where the engine knows them."""

    prompt_tokens: int | None = None
    output_tokens: int | None = None


class Chunk(Record):
    """One piece of an engine's stream.

    ``text`` is raw dialect text (it may hold control tokens, cut anywhere); ``thinking`` and ``call`` come only from
    engines that parse by themselves; ``end`` is the last chunk and the only one with ``reason``.
    """

    kind: Literal["text", "thinking", "call", "end"]
    text: str = ""
    call: CallSpec | None = None
    reason: EndReason | None = None
    usage: Usage = Usage()
