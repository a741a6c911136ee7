"""Runs one iteration: a model request, then the tools it called."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from py_agent.model.errors import EngineError, StorageError
from py_agent.model.prompt import CallSpec
from py_agent.model.tool import Tool, ToolError, ToolResult
from py_agent.model.tool_call import ToolCall, checksum
from py_agent.prompt.output import Output
from py_agent.prompt.wording import wording
from py_agent.runner.admission import admit, ask_first
from py_agent.runner.contexts import DispatchContext, Proposal
from py_agent.runner.events import ToolEnd, ToolStart
from py_agent.runner.generate import generate

#: Calls of one completion that run at most: a model that writes more is stuck.
MAX_CALLS_PER_OUTPUT = 4

#: Times that the same call runs in one turn. The second run may bring something new (a clock, a page that changed); the
#: third has never done so in the reports that we know. A pure tool's call runs once.
MAX_SAME_RUNS = 2


async def execute(context: DispatchContext) -> None:
    """The executor of a dispatch: fills ``output``, ``ran`` and ``proposal``.

    The first valid terminal call becomes the proposal and waits for the gates; calls behind it do not run. Calls that
    only read run side by side; one with an effect, or that ends the turn, waits for those before it. Results are
    recorded in the order of the calls.

    Raises:
        AgentError: What the engine or the index raised. A tool's ``ToolError`` goes to the model; what else a tool
            raises is a bug in it and ends the turn (a site's own tools are guarded, see ``tools/site_tools.py``).
    """
    output = await _generate(context)
    context.output = output
    if output.thinking and context.purpose == "worker":
        context.turn.stash.setdefault("thinking", []).append(output.thinking)
    context.conversation.model(output.text, output.calls)
    side_by_side: list[_Call] = []
    for number, spec in enumerate(output.calls):
        call = _prepare(context, spec, over=number >= MAX_CALLS_PER_OUTPUT)
        if call.tool is not None and (call.tool.terminal or call.tool.effect):
            await _run(context, side_by_side)
            side_by_side = []
            if call.tool.terminal:
                context.proposal = Proposal(call_id=call.id, tool=spec.name, args=call.args)
                return
            await _run(context, [call])
        else:
            side_by_side.append(call)
    await _run(context, side_by_side)


async def _generate(context: DispatchContext) -> Output:
    """A completion. An engine that could not read a call of its model is asked once more, with the reason.

    Raises:
        AgentError: As ``generate``; ``bad_call`` the second time.
    """
    try:
        return await generate(context)
    except EngineError as error:
        if error.code != "bad_call" or context.bad_calls:
            raise
        context.bad_calls += 1
        return Output(bad_calls=[error.message])


@dataclass
class _Call:
    """One call on its way. ``tool`` is None where it was refused at the door; ``shown`` then says why."""

    id: str
    spec: CallSpec
    tool: Tool | None = None
    name: str = ""
    args: Any = None
    key: str = ""
    result: ToolResult | None = None
    shown: str = ""
    is_error: bool = False
    ran: bool = False
    spool_key: str | None = None
    ms: float = 0.0


def _prepare(context: DispatchContext, spec: CallSpec, *, over: bool) -> _Call:
    turn = context.turn
    turn.call_ids += 1
    call = _Call(id=f"c{turn.call_ids}", spec=spec, name=spec.name)
    try:
        if over:
            raise ToolError(f"Not run: at most {MAX_CALLS_PER_OUTPUT} calls are run at a time.", code="too_many")
        tool, args = admit(context, spec)
    except ToolError as error:
        call.key = checksum(spec.name, spec.arguments)
        call.shown, call.is_error = wording("tool_error", message=error.message), True
        return call
    call.tool, call.args, call.name = tool, args, tool.name
    call.key = checksum(tool.name, args.model_dump(mode="json", exclude_defaults=True))
    return call


async def _run(context: DispatchContext, calls: list[_Call]) -> None:
    """Runs calls side by side and records them in their order.

    Raises:
        AgentError: What the index raised.
    """
    running = [call for call in calls if call.tool is not None and not _answered_before(context, call, calls)]
    if len(running) == 1:
        await _enter(context, running[0])
    elif running:
        try:
            async with asyncio.TaskGroup() as group:
                for call in running:
                    group.create_task(_enter(context, call))
        except* Exception as errors:
            raise errors.exceptions[0] from None
    for call in calls:
        await context.turn.breathe()
        # One after the other and in order: what a prompt holds must not depend on which tool was faster.
        await _show(context, call)


def _answered_before(context: DispatchContext, call: _Call, calls: list[_Call]) -> bool:
    """Whether the call has run as often as it may; it then gets the latest result again, with a note."""
    assert call.tool is not None
    before = [other for other in calls[: calls.index(call)] if other.key == call.key and other.tool is not None]
    runs = context.turn.tool_call_count(call.key) + len(before)
    return runs >= (1 if call.tool.pure or call.tool.reader else MAX_SAME_RUNS)


async def _enter(context: DispatchContext, call: _Call) -> None:
    """Runs a tool's handler."""
    assert call.tool is not None
    turn = context.turn
    turn.emit(ToolStart(call=call.id, tool=call.name, arguments=call.spec.arguments))
    started = time.perf_counter()
    call.ran = True
    try:
        await ask_first(context, call.tool, call.args, call.id)
        call.result = await call.tool.handler(call.args, context)
    except ToolError as error:
        call.shown, call.is_error = wording("tool_error", message=error.message), True
    call.ms = (time.perf_counter() - started) * 1_000


async def _show(context: DispatchContext, call: _Call) -> None:
    """What the model sees of a call, and the record of it."""
    turn = context.turn
    if call.result is not None:
        try:
            await _keep(context, call, call.result)
        except StorageError as error:
            # The result is lost, and nothing of it counts as read.
            message = f"The result could not be kept: {error.message} {error.hint}"
            call.shown, call.is_error, call.spool_key = wording("tool_error", message=message), True, None
        except ToolError as error:  # in the middle of a result that streams
            call.shown, call.is_error = wording("tool_error", message=error.message), True
    elif not call.shown:
        earlier = next(done for done in reversed(turn.calls) if done.ran and done.checksum == call.key)
        call.shown = wording("tool_repeated", tool=call.name, earlier=earlier.shown)
        call.is_error = earlier.is_error
    done = ToolCall(
        id=call.id,
        tool=call.name,
        arguments=call.spec.arguments,
        key=call.key,
        shown=call.shown,
        is_error=call.is_error,
        ran=call.ran,
        spool_key=call.spool_key,
    )
    turn.requested[call.key] = turn.requested.get(call.key, 0) + 1
    turn.calls.append(done)
    context.ran.append(done)
    context.conversation.tool(call.spec.name, call.shown)
    if call.ran:
        turn.emit(ToolEnd(call=call.id, tool=call.name, is_error=call.is_error, shown=call.shown, ms=call.ms))


async def _keep(context: DispatchContext, call: _Call, result: ToolResult) -> None:
    assert call.tool is not None
    if call.tool.reader:
        call.shown = result.text
        return
    empty = not result.text.strip() and result.stream is None
    text = wording("tool_empty", tool=call.name) if empty else result.text
    kept = await context.turn.shelf.take(call.id, call.name, result.model_copy(update={"text": text}))
    call.shown, call.spool_key = kept.text, kept.spool_key
