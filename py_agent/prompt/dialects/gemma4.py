"""Gemma 4's wire format: its tokens, and prompts, declarations and calls as text.

An engine that applies the model file's own template gets messages instead; this rendering then serves measuring, the
trace, and engines without a template.
"""

from __future__ import annotations

import re
from typing import Any

from py_agent.model.prompt import CallSpec, Prompt, PromptMessage, ToolSpec

TURN = "<|turn>"
TURN_END = "<turn|>"
THINK = "<|think|>"
CHANNEL = "<|channel>"
CHANNEL_END = "<channel|>"
TOOL = "<|tool>"
TOOL_END = "<tool|>"
CALL = "<|tool_call>"
CALL_END = "<tool_call|>"
RESPONSE = "<|tool_response>"
RESPONSE_END = "<tool_response|>"
#: Opens and closes a string; inside one nothing is escaped.
QUOTE = '<|"|>'

_CONTROL = re.compile(
    "|".join(
        re.escape(token)
        for token in (
            TURN, TURN_END, THINK, CHANNEL, CHANNEL_END, TOOL, TOOL_END, CALL, CALL_END, RESPONSE, RESPONSE_END, QUOTE
        )
    )
)  # fmt: skip


class Gemma4:
    """The dialect ``gemma4``."""

    name = "gemma4"
    control = _CONTROL

    def render_parts(self, prompt: Prompt) -> list[str]:
        """See the function of this name."""
        return render_parts(prompt)

    def render_call(self, call: CallSpec) -> str:
        """See the function of this name."""
        return render_call(call)


_TYPES = {"string": "STRING", "integer": "INTEGER", "number": "NUMBER", "boolean": "BOOLEAN"}


def render_parts(prompt: Prompt) -> list[str]:
    """The prompt as the model reads it, open at the end for the model's turn, in parts; see ``Dialect``."""
    system, *rest = prompt.messages
    head = f"{THINK}\n" if prompt.thinking else ""
    tools = "".join(declaration(tool) for tool in prompt.tools)
    parts = [f"{TURN}system\n{head}{system.content}{tools}{TURN_END}\n"]
    in_model_turn = False
    for message in rest:
        if message.role in ("model", "tool"):
            if not in_model_turn:
                parts.append(f"{TURN}model\n")
                in_model_turn = True
            parts.append(_inside_model_turn(message))
            continue
        if in_model_turn:
            parts.append(f"{TURN_END}\n")
            in_model_turn = False
        parts.append(f"{TURN}{message.role}\n{message.content}{TURN_END}\n")
    if not in_model_turn:
        parts.append(f"{TURN}model\n")
    return parts


def _inside_model_turn(message: PromptMessage) -> str:
    if message.role == "tool":
        return f"{RESPONSE}response:{message.name}{{value:{QUOTE}{message.content}{QUOTE}}}{RESPONSE_END}"
    return message.content + "".join(render_call(call) for call in message.calls)


def render_call(call: CallSpec) -> str:
    """A call as the model writes it."""
    return f"{CALL}call:{call.name}{_value(call.arguments)}{CALL_END}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_value(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_value(item) for item in value) + "]"
    # A quote token inside a string would end it: the only thing that must not stand there.
    return QUOTE + str(value).replace(QUOTE, '< |"|>') + QUOTE


def declaration(tool: ToolSpec) -> str:
    """A tool's declaration as it stands in the system turn."""
    body = f"description:{_value(tool.description)},parameters:{_schema(tool.parameters)}"
    return f"{TOOL}declaration:{tool.name}{{{body}}}{TOOL_END}"


def _schema(schema: dict[str, Any]) -> str:
    schema = _one_of(schema)
    kind = schema.get("type", "string")
    parts: list[str] = []
    if "description" in schema:
        parts.append(f"description:{_value(schema['description'])}")
    if "enum" in schema:
        parts.append(f"enum:{_value(schema['enum'])}")
    if kind == "array":
        parts.append(f"items:{_schema(schema.get('items', {}))}")
    if kind == "object":
        properties = schema.get("properties", {})
        inner = ",".join(f"{key}:{_schema(properties[key])}" for key in sorted(properties))
        parts.append(f"properties:{{{inner}}}")
        if schema.get("required"):
            parts.append(f"required:{_value(schema['required'])}")
    parts.append(f"type:{_value(_TYPES.get(kind, str(kind).upper()))}")
    return "{" + ",".join(parts) + "}"


def _one_of(schema: dict[str, Any]) -> dict[str, Any]:
    """An optional argument as its type: the dialect has no null, absence says it."""
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    if not options:
        return schema
    return {**options[0], **{key: value for key, value in schema.items() if key != "anyOf"}}
