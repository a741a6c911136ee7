"""The onion: middlewares that each wrap what comes behind them."""

from __future__ import annotations

from collections.abc import Sequence

from py_agent.model.errors import AgentError
from py_agent.runner.types import ContextT, Middleware


class PipelineError(AgentError):
    """A pipeline is wired wrong: a middleware called ``next`` twice."""

    code = "pipeline_error"


async def run_pipeline(middlewares: Sequence[Middleware[ContextT]], context: ContextT) -> bool:
    """Runs the middlewares around one another, the first outermost.

    Each run has its own cursor: a pipeline may run any number of times, also inside itself.

    Returns:
        Whether the end was reached. False: a middleware did not call ``next``.

    Raises:
        PipelineError: A middleware called ``next`` twice.
    """
    reached = False

    async def step(index: int) -> None:
        nonlocal reached
        if index == len(middlewares):
            reached = True
            return
        called = False

        async def next_() -> None:
            nonlocal called
            if called:
                raise PipelineError(
                    f"{getattr(middlewares[index], '__qualname__', middlewares[index])} called next() twice.",
                    hint="Call next() once in each middleware.",
                )
            called = True
            await step(index + 1)

        await middlewares[index](context, next_)

    await step(0)
    return reached
