"""ChatML as Qwen and its relatives speak it: turns between ``<|im_start|>`` and ``<|im_end|>``, calls as JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from py_agent.model.prompt import CallSpec, Prompt, PromptMessage, ToolSpec

START = "<|im_start|>"
END = "<|im_end|>"
TOOLS, TOOLS_END = "<tools>", "</tools>"
CALL, CALL_END = "<tool_call>", "</tool_call>"
RESPONSE, RESPONSE_END = "<tool_response>", "</tool_response>"
#: Opens and closes an empty thought: models that think by default then do not.
NO_THOUGHT = "<think>\n\n</think>\n\n"

_ROLES = {"system": "system", "user": "user", "model": "assistant", "tool": "user"}
_CONTROL = re.compile(
    "|".join(re.escape(token) for token in (START, END, CALL, CALL_END, RESPONSE, RESPONSE_END, "<think>", "</think>"))
)


class ChatMl:
    """The dialect ``chatml``."""

    name = "chatml"
    control = _CONTROL

    def render_parts(self, prompt: Prompt) -> list[str]:
        """The prompt as the model reads it, open at the end for the model's turn."""
        system, *rest = prompt.messages
        parts = [_turn("system", system.content + _declarations(prompt.tools))]
        for at, message in enumerate(rest):
            if message.role == "tool":
                # Results of one completion share a turn: the model asked for them together.
                opens = at == 0 or rest[at - 1].role != "tool"
                closes = at + 1 == len(rest) or rest[at + 1].role != "tool"
                body = f"{RESPONSE}\n{message.content}\n{RESPONSE_END}"
                parts.append((f"{START}user\n" if opens else "\n") + body + (f"{END}\n" if closes else ""))
            else:
                parts.append(_turn(_ROLES[message.role], self._body(message)))
        parts.append(f"{START}assistant\n" + ("" if prompt.thinking else NO_THOUGHT))
        return parts

    def render_call(self, call: CallSpec) -> str:
        """A call as the model writes it."""
        return f"{CALL}\n{_json({'name': call.name, 'arguments': call.arguments})}\n{CALL_END}"

    def _body(self, message: PromptMessage) -> str:
        calls = "\n".join(self.render_call(call) for call in message.calls)
        return "\n".join(text for text in (message.content, calls) if text)


def _turn(role: str, body: str) -> str:
    return f"{START}{role}\n{body}{END}\n"


def _declarations(tools: tuple[ToolSpec, ...]) -> str:
    if not tools:
        return ""
    from py_agent.prompt.wording import wording

    lines = [json.dumps(tool.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":")) for tool in tools]
    return "\n\n" + wording("chatml_tools", tools=lines)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
