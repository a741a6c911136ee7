"""Earlier turns of a thread, as a prompt carries them."""

from __future__ import annotations

from collections.abc import Iterable

from py_agent.model.prompt import PromptMessage
from py_agent.model.record import StoredMessage
from py_agent.prompt.conversation import HistoryTurn
from py_agent.prompt.envelopes import break_tokens


def turns_of(messages: Iterable[StoredMessage]) -> list[HistoryTurn]:
    """Question and answer of each finished turn, oldest first.

    Questions without an answer are left out: a model would answer them instead of the new one. So are tool results
    and thoughts: they belong to their turn.
    """
    turns: list[HistoryTurn] = []
    question: StoredMessage | None = None
    for message in messages:
        if message.role == "user":
            question = message
        elif question is not None:
            turns.append((_prompt("user", question), _prompt("model", message)))
            question = None
    return turns


def _prompt(role: str, message: StoredMessage) -> PromptMessage:
    content = break_tokens(message.model_content or message.content)
    return PromptMessage(role="user" if role == "user" else "model", content=content)
