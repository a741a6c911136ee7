"""Sees to it that a prompt fits the window together with its answer, or refuses before the engine does."""

from __future__ import annotations

from py_agent.model.errors import WindowTooSmall
from py_agent.prompt.dialects import count_parts, dialect
from py_agent.runner.contexts import DispatchContext
from py_agent.runner.events import Phase, Status
from py_agent.runner.types import Middleware, Next

#: Share of the budget from which on the engine is asked to count: an estimate is rarely more than a tenth too low, and
#: asking takes a server as long as reading a page of text.
COUNT_FROM = 0.85


def fit_window(window: int) -> Middleware[DispatchContext]:
    """A step of the dispatch-input pipeline.

    Where old turns are what makes the prompt too long, whole ones leave, the oldest first.

    Args:
        window: The engine's context window in tokens, prompt and output together.
    """

    async def middleware(context: DispatchContext, next_: Next) -> None:
        budget = window - context.options.max_output_tokens
        dropped = 0
        while (tokens := await _tokens(context, budget)) > budget:
            if not context.conversation.history:
                raise WindowTooSmall(
                    f"The prompt needs {tokens} tokens and {context.options.max_output_tokens} for the answer, but the "
                    f"window has {window}.",
                    hint="Ask in fewer words, start a new thread, or give the model a larger window.",
                )
            context.conversation.history.pop(0)
            dropped += 1
            await context.turn.breathe()
        if dropped:
            phase: Phase = "planning" if context.purpose == "planner" else "answering"
            context.turn.emit(Status(phase=phase, detail=f"left out {dropped} older turns to fit the window"))
        await next_()

    return middleware


async def _tokens(context: DispatchContext, budget: int) -> int:
    """Tokens of the prompt as it stands: estimated, and counted by the engine where that matters and it can."""
    speaks = dialect(context.turn.engine.info().dialect)
    parts = speaks.render_parts(context.conversation.prompt(context))
    estimated = count_parts(speaks, parts, context.turn.count)
    if estimated <= budget * COUNT_FROM:
        return estimated
    counted = await context.turn.engine.count_tokens("".join(parts))
    return estimated if counted is None else counted
