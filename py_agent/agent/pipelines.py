"""Where an integrator hangs steps of their own into every turn."""

from __future__ import annotations

from dataclasses import dataclass

from py_agent.runner.contexts import DispatchContext, TurnContext
from py_agent.runner.types import Middleware


@dataclass(frozen=True)
class Pipelines:
    """Steps besides the built-in ones. Each is ``async def step(context, next_)`` and calls ``next_()`` once.

    Attributes:
        turn_input: Once, before the planner. A step that does not call ``next_`` refuses the turn and must have set
            ``context.outcome``.
        dispatch_input: Before each request of the worker, after the built-in steps chose the tools and before the
            prompt is made to fit. A step that does not call ``next_`` must have given a signal.
        dispatch_output: After each request of the worker, before the gates. A step that does not call ``next_`` holds
            the completion back: the loop goes on, and the step should have told the model why.
        turn_output: Once, after the worker has ended and before the turn is committed; not after a failure.
    """

    turn_input: tuple[Middleware[TurnContext], ...] = ()
    dispatch_input: tuple[Middleware[DispatchContext], ...] = ()
    dispatch_output: tuple[Middleware[DispatchContext], ...] = ()
    turn_output: tuple[Middleware[TurnContext], ...] = ()
