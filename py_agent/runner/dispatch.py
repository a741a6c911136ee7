"""DispatchRunner: the model loop. Each iteration is prompt -> engine -> tools, with policy on both sides."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from py_agent.model.errors import AgentError
from py_agent.runner.contexts import DispatchContext
from py_agent.runner.limits import LimitReached
from py_agent.runner.observed import DispatchEnd, DispatchStart, DispatchStatus, IterationEnd, IterationStart, Log
from py_agent.runner.pipeline import PipelineError, run_pipeline
from py_agent.runner.types import Middleware

#: Runs the engine and the tools of one iteration.
Executor = Callable[[DispatchContext], Awaitable[None]]


class DispatchRunner:
    """Iterates until a policy signals.

    Args:
        executor: Runs engine and tools; see ``executor.py``.
        input_pipeline: Runs before each iteration: chooses the tools, checks that the prompt fits.
        output_pipeline: Runs after each iteration: gates, then what ends the turn. Nothing is acked for it.
        max_iterations: Bound of the loop.
        auto_ack: Whether a completion without calls ends the dispatch by itself. Where a policy judges completions it
            must be off: the policy would never see the last one.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        input_pipeline: Sequence[Middleware[DispatchContext]] = (),
        output_pipeline: Sequence[Middleware[DispatchContext]] = (),
        max_iterations: int,
        auto_ack: bool = False,
    ) -> None:
        self._executor = executor
        self._input = tuple(input_pipeline)
        self._output = tuple(output_pipeline)
        self._max_iterations = max_iterations
        self._auto_ack = auto_ack

    async def run(self, context: DispatchContext) -> None:
        """Runs the loop to its signal.

        Raises:
            LimitReached: There was no signal within ``max_iterations``.
            AgentError: What engine, storage or policy raised; a nack's error.
        """
        observe = context.turn.observe
        started = time.perf_counter()
        status: DispatchStatus = "cancelled"
        code = ""
        observe(DispatchStart(purpose=context.purpose))
        try:
            await self._loop(context)
            status = context.signals.signal or "error"
        except AgentError as error:
            status, code = context.signals.signal or "error", error.code
            raise
        finally:
            for name, failed in context.signals.hook_errors:
                message = f"{name} raised {type(failed).__name__}: {failed}"
                observe(Log(level="error", kind="on_ack", message=message))
            observe(
                DispatchEnd(
                    purpose=context.purpose,
                    status=status,
                    code=code,
                    reason=context.signals.reason,
                    iterations=context.iteration,
                    ms=_ms_since(started),
                )
            )

    async def _loop(self, context: DispatchContext) -> None:
        while not context.signals.signalled:
            if context.iteration >= self._max_iterations:
                raise LimitReached(
                    f"No answer was accepted within {self._max_iterations} model requests.",
                    hint="Ask a narrower question.",
                )
            started = time.perf_counter()
            context.turn.observe(IterationStart(purpose=context.purpose, iteration=context.iteration))
            await self._iterate(context)
            context.turn.observe(
                IterationEnd(
                    purpose=context.purpose,
                    iteration=context.iteration,
                    allowed=tuple(sorted(context.allowed)),
                    ms=_ms_since(started),
                )
            )
            context.iteration += 1
        if context.signals.error is not None:
            raise context.signals.error

    async def _iterate(self, context: DispatchContext) -> None:
        context.output, context.proposal, context.ran = None, None, []
        context.drop_draft("the draft did not become an answer")
        reached = await run_pipeline(self._input, context)
        if context.signals.signalled:
            return
        if not reached:
            raise PipelineError(
                "A step of the dispatch-input pipeline neither called next() nor gave a signal.",
                hint="Call next() once, or end the dispatch with context.signals.",
            )
        await self._executor(context)
        if not context.signals.signalled:
            await run_pipeline(self._output, context)
        if self._auto_ack and not context.signals.signalled and not context.done.calls:
            context.signals.ack()


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1_000
