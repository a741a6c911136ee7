"""Runs one iteration: a model request, then the tools it called."""

from __future__ import annotations

import time

from py_agent.model.prompt import CallSpec
from py_agent.model.tool import Tool, ToolArgs, ToolError
from py_agent.model.tool_call import ToolCall, checksum
from py_agent.prompt.wording import wording
from py_agent.runner.contexts import DispatchContext, Proposal
from py_agent.runner.events import ToolEnd, ToolStart
from py_agent.runner.generate import generate

#: Calls of one completion that run at most: a model that writes more is stuck.
MAX_CALLS_PER_OUTPUT = 4

#: Times that the same call runs in one turn. The second run may bring something new (a clock, a page that changed); the
#: third has never done so in the reports that we know.
MAX_SAME_RUNS = 2


async def execute(context: DispatchContext) -> None:
    """The executor of a dispatch: fills ``output``, ``ran`` and ``proposal``.

    The first valid terminal call becomes the proposal and waits for the gates; calls behind it do not run.

    Raises:
        AgentError: What the engine or the spool raised. What a tool raised goes to the model.
    """
    output = await generate(context)
    context.output = output
    if output.thinking and context.purpose == "worker":
        context.turn.stash.setdefault("thinking", []).append(output.thinking)
    calls = output.calls[:MAX_CALLS_PER_OUTPUT]
    context.conversation.model(output.text, calls)
    for call in calls:
        await context.turn.breathe()
        await _call(context, call)
        if context.proposal is not None:
            break


async def _call(context: DispatchContext, call: CallSpec) -> None:
    turn = context.turn
    turn.call_ids += 1
    call_id = f"c{turn.call_ids}"
    try:
        tool, args = _admit(context, call)
    except ToolError as error:
        _record(context, call_id, call, wording("tool_error", message=error.message), is_error=True, ran=False)
        return
    if tool.terminal:
        context.proposal = Proposal(call_id=call_id, tool=tool.name, args=args)
        return
    if (earlier := _repeated(context, call)) is not None:
        text = wording("tool_repeated", tool=call.name, earlier=earlier.shown)
        _record(context, call_id, call, text, is_error=earlier.is_error, ran=False)
        return
    turn.emit(ToolStart(call=call_id, tool=tool.name, arguments=call.arguments))
    started = time.perf_counter()
    is_error = False
    spool_key = None
    try:
        result = await tool.handler(args, context)
        if tool.reader:
            shown = result.text
        else:
            kept = await turn.shelf.take(call_id, tool.name, result)
            shown, spool_key = kept.text, kept.spool_key
    except ToolError as error:
        shown, is_error = wording("tool_error", message=error.message), True
    _record(context, call_id, call, shown, is_error=is_error, spool_key=spool_key)
    ms = (time.perf_counter() - started) * 1_000
    turn.emit(ToolEnd(call=call_id, tool=tool.name, is_error=is_error, shown=shown, ms=ms))


def _repeated(context: DispatchContext, call: CallSpec) -> ToolCall | None:
    """The latest run of a call that has run as often as it may."""
    wanted = checksum(call.name, call.arguments)
    if context.turn.tool_call_count(wanted) < MAX_SAME_RUNS:
        return None
    return next(done for done in reversed(context.turn.calls) if done.ran and done.checksum == wanted)


def _admit(context: DispatchContext, call: CallSpec) -> tuple[Tool, ToolArgs]:
    """The tool and the validated arguments of a call that may run now.

    Raises:
        ToolError: It may not; the text names only what may be called.
    """
    tool = context.tools.get(call.name)
    if tool is None or tool.name not in context.allowed:
        allowed = ", ".join(name for name in context.tools.tools if name in context.allowed)
        raise ToolError(f"There is no tool {call.name[:60]!r} here. You can call: {allowed}.", code="not_allowed")
    return tool, tool.parse(call.arguments)


def _record(
    context: DispatchContext,
    call_id: str,
    call: CallSpec,
    shown: str,
    *,
    is_error: bool,
    ran: bool = True,
    spool_key: str | None = None,
) -> None:
    done = ToolCall(
        id=call_id,
        tool=call.name,
        arguments=call.arguments,
        shown=shown,
        is_error=is_error,
        ran=ran,
        spool_key=spool_key,
    )
    requested = context.turn.requested
    requested[done.checksum] = requested.get(done.checksum, 0) + 1
    context.turn.calls.append(done)
    context.ran.append(done)
    context.conversation.tool(call.name, shown)
