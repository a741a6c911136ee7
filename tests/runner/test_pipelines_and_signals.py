from __future__ import annotations

import pytest

from py_agent.model.errors import EngineError
from py_agent.runner.pipeline import PipelineError, run_pipeline
from py_agent.runner.signals import AlreadySignalled, Signals
from py_agent.runner.types import Next


async def test_middlewares_wrap_one_another_and_run_again() -> None:
    async def outer(log: list[str], next_: Next) -> None:
        log.append("outer in")
        await next_()
        log.append("outer out")

    async def inner(log: list[str], next_: Next) -> None:
        log.append("inner")
        await next_()

    pipeline = [outer, inner]
    for _ in range(2):
        log: list[str] = []
        assert await run_pipeline(pipeline, log)
        assert log == ["outer in", "inner", "outer out"]


async def test_a_middleware_that_does_not_go_on_stops_the_rest() -> None:
    async def stop(log: list[str], next_: Next) -> None:
        log.append("stop")

    async def never(log: list[str], next_: Next) -> None:
        log.append("never")

    log: list[str] = []
    assert not await run_pipeline([stop, never], log)
    assert log == ["stop"]


async def test_next_called_twice_is_an_error_that_names_the_middleware() -> None:
    async def twice(log: list[str], next_: Next) -> None:
        await next_()
        await next_()

    with pytest.raises(PipelineError, match="twice"):
        await run_pipeline([twice], [])


def test_a_second_signal_is_an_error() -> None:
    signals = Signals()
    signals.ack()
    assert signals.signalled
    for again in (signals.ack, lambda: signals.abort("no"), lambda: signals.nack(EngineError("x"))):
        with pytest.raises(AlreadySignalled):
            again()
    assert signals.signal == "ack"
