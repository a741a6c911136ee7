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
    asked: list[StoredMessage] = []
    for message in messages:
        if message.role == "user":
            # What was added while a turn ran belongs to its question; a question of another turn has no answer.
            asked = [*asked, message] if asked and message.turn and asked[-1].turn == message.turn else [message]
        elif asked:
            question = _prompt("user", asked[0])
            if len(asked) > 1:
                content = "\n\n".join(_prompt("user", item).content for item in asked)
                question = question.model_copy(update={"content": content})
            turns.append((question, _prompt("model", message)))
            asked = []
    return turns


def _prompt(role: str, message: StoredMessage) -> PromptMessage:
    content = break_tokens(message.model_content or message.content)
    return PromptMessage(role="user" if role == "user" else "model", content=content)
