"""Prompts as chat completions take them, and the tool calls that come back in pieces."""

from __future__ import annotations

import json
from typing import Any

from py_agent.model.errors import EngineError
from py_agent.model.prompt import CallSpec, GenerateOptions, Prompt, PromptMessage
from py_agent.model.safe_json import loads


def encoded(body: dict[str, Any]) -> bytes:
    """``body`` as JSON in UTF-8. Halves of characters, which UTF-8 does not have, are joined or marked as lost."""
    from py_agent.prompt.parsers.chars import join_halves

    return join_halves(json.dumps(body, ensure_ascii=False)).encode()


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
    """Messages as servers and the templates behind them take them.

    They refuse a call without its result, a message of the assistant that says nothing, and many want the user and the
    assistant to take turns: a call that never ran and an empty message are left out, and neighbours become one.
    """
    out: list[dict[str, Any]] = []
    number = 0
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.role != "model":
            # A result whose call is not in the prompt any more is told as the text that it is.
            _say(out, "system" if message.role == "system" else "user", message.content)
            continue
        said: dict[str, Any] = {"role": "assistant", "content": message.content}
        calls = list(message.calls)
        told: list[dict[str, Any]] = []
        asked: list[dict[str, Any]] = []
        while at < len(messages) and messages[at].role == "tool":
            result = messages[at]
            call = next((call for call in calls if call.name == result.name), None)
            if call is None:
                break
            calls.remove(call)
            call_id = f"call_{number}"
            number += 1
            at += 1
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            asked.append({"id": call_id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
            told.append({"role": "tool", "tool_call_id": call_id, "content": result.content})
        if asked:
            out += [{**said, "tool_calls": asked}, *told]
        elif message.content:
            _say(out, "assistant", message.content)
    return out


def _say(out: list[dict[str, Any]], role: str, text: str) -> None:
    if out and out[-1]["role"] == role and "tool_calls" not in out[-1]:
        out[-1]["content"] += f"\n\n{text}"
    else:
        out.append({"role": role, "content": text})


class Calls:
    """The tool calls of one completion, put together from their pieces."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._arguments: list[str] = []
        self._ids: list[str] = []
        self._at: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._names)

    def add(self, deltas: list[dict[str, Any]]) -> None:
        """Takes the ``tool_calls`` of one delta.

        Servers differ: some send no ``index``, some send 0 for every call, some repeat name and id with every piece.
        """
        for position, delta in enumerate(deltas):
            given = delta.get("index")
            index = given if isinstance(given, int) else position
            function = delta.get("function")
            if not isinstance(function, dict):
                function = {}
            name = function.get("name") if isinstance(function.get("name"), str) else ""
            call_id = delta.get("id") if isinstance(delta.get("id"), str) else ""
            at = self._at.get(index)
            if at is None or (call_id and name and self._ids[at] and call_id != self._ids[at]):
                at = self._at[index] = len(self._names)
                self._names.append("")
                self._arguments.append("")
                self._ids.append(call_id or "")
            if name and name != self._names[at]:
                self._names[at] += name
            arguments = function.get("arguments")
            if isinstance(arguments, dict):  # whole and parsed
                arguments = json.dumps(arguments)
            if isinstance(arguments, str):
                self._arguments[at] += arguments

    def finished(self, *, cut: bool) -> list[CallSpec]:
        """The calls. With ``cut`` the last one was cut by the token limit, and is left out.

        Raises:
            EngineError: ``bad_call``: the arguments of a call are no JSON object.
        """
        calls = []
        whole = len(self._names) - cut  # a limit behind the last brace cannot be told from one before it
        for name, said in zip(self._names[:whole], self._arguments[:whole], strict=True):
            text = said.strip()
            try:
                arguments = {} if text in ("", "null") else loads(text)
            except ValueError:
                arguments = None
            if not isinstance(arguments, dict) or not name:
                raise EngineError(
                    f"The arguments of {name or 'a call'} are no JSON object: {text[:80]}",
                    hint="The model is asked to write the call again.",
                    code="bad_call",
                )
            calls.append(CallSpec(name=name, arguments=arguments))
        return calls
