"""TurnRunner: one request of the reader, from its pipelines to its dispatches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from py_agent.runner.contexts import TurnContext
from py_agent.runner.pipeline import run_pipeline
from py_agent.runner.types import Middleware

#: Runs the dispatches of a turn and sets its outcome.
Body = Callable[[TurnContext], Awaitable[None]]


class TurnRunner:
    """Runs turns.

    Args:
        body: The dispatches.
        input_pipeline: Runs once before them.
        output_pipeline: Runs once after them, only if they succeeded: nothing that must always happen belongs here.
    """

    def __init__(
        self,
        body: Body,
        *,
        input_pipeline: Sequence[Middleware[TurnContext]] = (),
        output_pipeline: Sequence[Middleware[TurnContext]] = (),
    ) -> None:
        self._body = body
        self._input = tuple(input_pipeline)
        self._output = tuple(output_pipeline)

    async def run(self, context: TurnContext) -> None:
        """Runs one turn. A middleware that does not call ``next`` refuses it, and must have set the outcome.

        Raises:
            AgentError: What a dispatch raised.
        """
        if await run_pipeline(self._input, context):
            await self._body(context)
            await run_pipeline(self._output, context)
