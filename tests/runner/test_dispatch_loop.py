from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from py_agent.model.errors import EngineError
from py_agent.model.prompt import GenerateOptions
from py_agent.model.tool import ToolRegistry
from py_agent.prompt.conversation import Conversation
from py_agent.prompt.output import Output
from py_agent.runner.contexts import DispatchContext
from py_agent.runner.dispatch import DispatchRunner, LimitReached
from py_agent.runner.types import Next


def context(seen: list[Any] | None = None) -> DispatchContext:
    observe = (seen if seen is not None else []).append
    return DispatchContext(
        turn=cast(Any, SimpleNamespace(observe=observe)),
        purpose="worker",
        conversation=Conversation("-"),
        tools=ToolRegistry(),
        options=GenerateOptions(),
    )


async def idle(_: DispatchContext) -> None:
    """An executor that does nothing."""


async def test_the_loop_runs_its_pipelines_around_each_iteration_until_the_ack() -> None:
    log: list[str] = []

    async def executor(ctx: DispatchContext) -> None:
        log.append(f"run {ctx.iteration}")

    async def before(ctx: DispatchContext, next_: Next) -> None:
        log.append("in")
        await next_()

    async def after(ctx: DispatchContext, next_: Next) -> None:
        log.append("out")
        if ctx.iteration == 1:
            ctx.signals.ack()
        await next_()

    ctx = context()
    await DispatchRunner(executor, input_pipeline=[before], output_pipeline=[after], max_iterations=9).run(ctx)
    assert log == ["in", "run 0", "out", "in", "run 1", "out"]
    assert ctx.iteration == 2


async def test_a_signal_before_the_executor_skips_it() -> None:
    async def refuse(ctx: DispatchContext, next_: Next) -> None:
        ctx.signals.abort("no")

    async def never(_: DispatchContext) -> None:
        raise AssertionError

    ctx = context()
    await DispatchRunner(never, input_pipeline=[refuse], max_iterations=3).run(ctx)
    assert (ctx.signals.signal, ctx.signals.reason) == ("abort", "no")


async def test_a_nack_raises_its_error_and_the_limit_raises_its_own() -> None:
    async def fail(ctx: DispatchContext, next_: Next) -> None:
        ctx.signals.nack(EngineError("broken", code="lost"))

    with pytest.raises(EngineError, match="broken"):
        await DispatchRunner(idle, output_pipeline=[fail], max_iterations=3).run(context())
    ctx = context()
    with pytest.raises(LimitReached, match="3 model requests"):
        await DispatchRunner(idle, max_iterations=3).run(ctx)
    assert ctx.iteration == 3


async def test_each_run_and_each_iteration_is_told_to_observers() -> None:
    async def after(ctx: DispatchContext, next_: Next) -> None:
        if ctx.iteration == 1:
            ctx.signals.ack()
        await next_()

    seen: list[Any] = []
    await DispatchRunner(idle, output_pipeline=[after], max_iterations=9).run(context(seen))
    assert [event.type for event in seen] == [
        "dispatch_start",
        *("iteration_start", "iteration_end") * 2,
        "dispatch_end",
    ]
    assert (seen[-1].status, seen[-1].iterations) == ("ack", 2)


async def test_observers_are_told_why_a_run_ended() -> None:
    async def fail(ctx: DispatchContext, next_: Next) -> None:
        ctx.signals.nack(EngineError("broken", code="lost"))

    async def cancelled(_: DispatchContext) -> None:
        raise asyncio.CancelledError

    seen: list[Any] = []
    with pytest.raises(EngineError):
        await DispatchRunner(idle, output_pipeline=[fail], max_iterations=3).run(context(seen))
    with pytest.raises(LimitReached):
        await DispatchRunner(idle, max_iterations=1).run(context(seen))
    with pytest.raises(asyncio.CancelledError):
        await DispatchRunner(cancelled, max_iterations=1).run(context(seen))
    ends = [(event.status, event.code) for event in seen if event.type == "dispatch_end"]
    assert ends == [("nack", "lost"), ("error", "limit_reached"), ("cancelled", "")]


async def test_handlers_of_an_ack_run_in_order_and_cannot_undo_it() -> None:
    log: list[str] = []

    def broken() -> None:
        log.append("broken")
        raise ValueError("no")

    async def after(ctx: DispatchContext, next_: Next) -> None:
        ctx.signals.on_ack(lambda: log.append("first"))
        ctx.signals.on_ack(broken)
        ctx.signals.on_ack(lambda: log.append("gone"))()
        ctx.signals.on_ack(lambda: log.append("last"))
        ctx.signals.ack()
        await next_()

    seen: list[Any] = []
    await DispatchRunner(idle, output_pipeline=[after], max_iterations=3).run(context(seen))
    assert log == ["first", "broken", "last"]
    assert [event.message for event in seen if event.type == "log"] == [
        "test_handlers_of_an_ack_run_in_order_and_cannot_undo_it.<locals>.broken raised ValueError: no"
    ]


async def test_no_handler_of_an_ack_runs_after_another_signal() -> None:
    ran: list[str] = []

    async def refuse(ctx: DispatchContext, next_: Next) -> None:
        ctx.signals.on_ack(lambda: ran.append("x"))
        ctx.signals.abort("no")
        await next_()

    await DispatchRunner(idle, output_pipeline=[refuse], max_iterations=3).run(context())
    assert ran == []


async def test_a_completion_without_calls_may_ack_by_itself() -> None:
    async def says(ctx: DispatchContext) -> None:
        ctx.output = Output(text="Done.")

    ctx = context()
    await DispatchRunner(says, max_iterations=3, auto_ack=True).run(ctx)
    assert (ctx.signals.signal, ctx.iteration) == ("ack", 1)
