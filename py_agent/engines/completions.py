"""Prompts as chat completions take them, and the tool calls that come back in pieces."""

from __future__ import annotations

import json
from typing import Any

from py_agent.model.errors import EngineError
from py_agent.model.prompt import CallSpec, GenerateOptions, Prompt, PromptMessage
from py_agent.model.safe_json import loads


def request_body(prompt: Prompt, options: GenerateOptions, model: str) -> dict[str, Any]:
    """The body of a streaming request."""
    body: dict[str, Any] = {
        "model": model,
        "messages": messages_of(prompt.messages),
        "max_tokens": options.max_output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if prompt.tools:
        body["tools"] = [{"type": "function", "function": tool.model_dump(mode="json")} for tool in prompt.tools]
    return body


def messages_of(messages: tuple[PromptMessage, ...]) -> list[dict[str, Any]]:
    """Messages with an id for each call. Servers refuse a call without its result: one that never ran is left out."""
    out: list[dict[str, Any]] = []
    number = 0
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.role != "model":
            # A result whose call is not in the prompt any more is told as the text that it is.
            role = "system" if message.role == "system" else "user"
            out.append({"role": role, "content": message.content})
            continue
        results: list[PromptMessage] = []
        while at < len(messages) and messages[at].role == "tool" and len(results) < len(message.calls):
            results.append(messages[at])
            at += 1
        said: dict[str, Any] = {"role": "assistant", "content": message.content}
        ids = [f"call_{number + index}" for index in range(len(results))]
        number += len(results)
        if results:
            said["tool_calls"] = [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
                }
                for call_id, call in zip(ids, message.calls, strict=False)
            ]
        out.append(said)
        out += [
            {"role": "tool", "tool_call_id": call_id, "content": result.content}
            for call_id, result in zip(ids, results, strict=True)
        ]
    return out


class Calls:
    """The tool calls of one completion, put together from their pieces."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._arguments: dict[int, str] = {}

    def __bool__(self) -> bool:
        return bool(self._names)

    def add(self, deltas: list[Any]) -> None:
        """Takes the ``tool_calls`` of one delta."""
        for position, delta in enumerate(deltas):
            index = delta.get("index", position)
            function = delta.get("function") or {}
            self._names[index] = self._names.get(index, "") + (function.get("name") or "")
            arguments = function.get("arguments")
            if isinstance(arguments, dict):  # Ollama sends them whole and parsed
                arguments = json.dumps(arguments)
            self._arguments[index] = self._arguments.get(index, "") + (arguments or "")

    def finished(self, *, cut: bool) -> list[CallSpec]:
        """The calls. With ``cut`` the last one was cut by the token limit, and is left out if it is not whole.

        Raises:
            EngineError: ``bad_call``: the arguments of a call are no JSON object.
        """
        calls = []
        for index in sorted(self._names):
            text = self._arguments[index].strip() or "{}"
            try:
                arguments = loads(text)
            except ValueError:
                arguments = None
            if cut and index == max(self._names):
                continue  # a limit that falls behind the last brace cannot be told from one that falls before it
            if not isinstance(arguments, dict) or not self._names[index]:
                raise EngineError(
                    f"The arguments of {self._names[index] or 'a call'} are no JSON object: {text[:80]}",
                    hint="The model is asked to write the call again.",
                    code="bad_call",
                )
            calls.append(CallSpec(name=self._names[index], arguments=arguments))
        return calls
