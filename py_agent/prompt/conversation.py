"""A conversation with an engine: stable first, and append-only inside a turn.

Order: system, tools, history of earlier turns, then what this turn adds. What stands in it is never rewritten while the
turn runs, so each prompt extends the one before it and an engine can keep what it has already read.

Whatever comes in has its control tokens broken here, once more where its maker has done so: no caller can forget it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from py_agent.model.prompt import CallSpec, Prompt, PromptMessage, ToolSpec
from py_agent.model.thought import Thought
from py_agent.model.tokenizable import Tokenizable
from py_agent.prompt.envelopes import break_in, break_tokens

#: One earlier turn: question and answer.
HistoryTurn = tuple[PromptMessage, ...]


class Conversation:
    """The planner's or the worker's conversation of one turn.

    Args:
        system: The system message.
        tools: Declared for the whole turn.
        history: Earlier turns, oldest first.
        thinking: Whether the model may think; a setting of the whole conversation.
    """

    def __init__(
        self,
        system: str,
        *,
        tools: Iterable[ToolSpec] = (),
        history: Sequence[HistoryTurn] = (),
        thinking: bool = False,
    ) -> None:
        self._system = PromptMessage(role="system", content=break_tokens(system))
        self._tools = tuple(_safe(tool) for tool in tools)
        self._thinking = thinking
        self._turn: list[PromptMessage | Tokenizable] = []
        self.history = list(history)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The declared tools."""
        return self._tools

    def user(self, text: str | Tokenizable) -> None:
        """Appends a message of the reader, or of the harness in the reader's place.

        A dynamic text is worked out when the next prompt is put together, and stays as it is from then on.
        """
        if isinstance(text, Tokenizable) and not text.is_static:
            self._turn.append(text)
        else:
            self._turn.append(PromptMessage(role="user", content=break_tokens(str(text))))

    def thought(self, thought: Thought) -> None:
        """Appends a thought in the first person, in the reader's place: it is the last thing the model reads."""
        self.user(thought.content)

    def model(self, text: str, calls: Iterable[CallSpec] = ()) -> None:
        """Appends what the model said: it may be quoting a token. Its thoughts do not come back."""
        safe = tuple(CallSpec(name=break_tokens(call.name), arguments=break_in(call.arguments)) for call in calls)
        self._turn.append(PromptMessage(role="model", content=break_tokens(text), calls=safe))

    def tool(self, name: str, text: str) -> None:
        """Appends the result of a call."""
        self._turn.append(PromptMessage(role="tool", name=break_tokens(name), content=break_tokens(text)))

    def prompt(self, context: Any = None) -> Prompt:
        """What the engine gets now.

        Args:
            context: The running dispatch's, for dynamic texts; None: they fall back to what they are without one.

        Raises:
            TokenizableError: A dynamic text could not be worked out.
        """
        for at, item in enumerate(self._turn):
            if isinstance(item, Tokenizable):
                self._turn[at] = PromptMessage(role="user", content=break_tokens(item.render(context)))
        said = tuple(item for item in self._turn if isinstance(item, PromptMessage))
        earlier = tuple(message for turn in self.history for message in turn)
        return Prompt(messages=(self._system, *earlier, *said), tools=self._tools, thinking=self._thinking)


def _safe(tool: ToolSpec) -> ToolSpec:
    parameters: dict[str, Any] = break_in(tool.parameters)
    return ToolSpec(name=break_tokens(tool.name), description=break_tokens(tool.description), parameters=parameters)
