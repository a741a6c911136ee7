"""The body of a turn: the planner's dispatch, then the worker's, and what the worker may call."""

from __future__ import annotations

from collections.abc import Callable

from py_agent.agent.pipelines import Pipelines
from py_agent.context.fit import fit_window
from py_agent.context.knowledge import knowledge_of
from py_agent.gates.additions import tell_additions
from py_agent.gates.cascade import cascade, default_gates
from py_agent.gates.repeats import forced_outcome, stop_repeats
from py_agent.gates.terminator import terminator
from py_agent.model.identity import OWNER
from py_agent.model.prompt import GenerateOptions
from py_agent.model.tokenizable import Tokenizable
from py_agent.model.tool import Tool, ToolArgs, ToolError, ToolRegistry, ToolResult
from py_agent.planner.book_end import plan_thought, plan_turn
from py_agent.prompt.conversation import Conversation
from py_agent.prompt.envelopes import envelope
from py_agent.prompt.wording import wording
from py_agent.runner.contexts import DispatchContext, TurnContext
from py_agent.runner.dispatch import DispatchRunner
from py_agent.runner.events import Phase, Status
from py_agent.runner.executor import execute
from py_agent.runner.limits import LimitReached
from py_agent.runner.types import Next
from py_agent.storage.base import MemoryStore
from py_agent.tools import search_docs as search_tool
from py_agent.tools.toolset import ExtraTools, toolset

#: Characters of the address of the reader's page that the prompt carries.
MAX_PAGE_CHARS = 200


async def run_dispatches(
    turn: TurnContext, pipelines: Pipelines, extra: ExtraTools | None, memories: MemoryStore | None
) -> None:
    """Plans, works, and sets the turn's outcome.

    Raises:
        AgentError: What engine, index or storage raised. A limit that is reached is no error but an outcome.
    """
    try:
        await _run(turn, pipelines, toolset(turn, extra=extra, memories=memories))
    except LimitReached:
        turn.outcome = await forced_outcome(turn)


async def _run(turn: TurnContext, pipelines: Pipelines, tools: ToolRegistry) -> None:
    fit = fit_window(turn.engine.info().window)
    if turn.config.planner:
        await plan_turn(turn, [tool.name for tool in tools.visible() if not tool.reader], [fit])
    conversation = Conversation(_system(turn), tools=tools.specs(), history=turn.history)
    conversation.user(Tokenizable(lambda _: _question(turn)))
    context = DispatchContext(
        turn=turn,
        purpose="worker",
        conversation=conversation,
        tools=tools,
        options=GenerateOptions(max_output_tokens=turn.config.max_output_tokens),
    )
    runner = DispatchRunner(
        execute,
        input_pipeline=[_allow, tell_additions, _status, *pipelines.dispatch_input, fit],
        output_pipeline=[*pipelines.dispatch_output, stop_repeats, cascade(default_gates()), terminator],
        max_iterations=turn.config.max_dispatches,
    )
    try:
        await runner.run(context)
    except LimitReached:
        context.drop_draft("the turn reached its limit")
        raise


def recorded(tool: Tool, record: Callable[..., None]) -> Tool:
    """``tool`` with its results in the trace: what it says cannot be worked out again from the rest of it."""

    async def handler(args: ToolArgs, context: DispatchContext) -> ToolResult:
        try:
            result = await tool.handler(args, context)
        except ToolError as error:
            record("tool", tool=tool.name, error=error.to_json())
            raise
        # A stream is not copied into the trace: it may be larger than all traces together.
        note = {"streamed": True} if result.stream is not None else {}
        record("tool", tool=tool.name, result=result.model_dump(mode="json"), **note)
        return result

    return tool.model_copy(update={"handler": handler})


def _system(turn: TurnContext) -> str:
    owners = [item.text for item in turn.standing if item.author == OWNER]
    return wording("system", title=turn.config.title, instructions=[" ".join(text.split()) for text in owners])


def _question(turn: TurnContext) -> str:
    # An address is a stranger's words: whoever made the link that the reader followed wrote it.
    page = " ".join((turn.page or "").split())[:MAX_PAGE_CHARS]
    return wording(
        "question",
        reader=envelope(turn.question, kind="reader", nonce=turn.nonce()),
        page=envelope(page, kind="page", nonce=turn.nonce()) if page else "",
        knowledge=knowledge_of(turn),
        plan=plan_thought(turn.plan) if turn.plan is not None else "",
    )


async def _allow(context: DispatchContext, next_: Next) -> None:
    """Opens the executor's allow-list: everything visible, the readers once there is something that they read, and only
    an answer once the model was told to give one."""
    callable_now = (*context.tools.visible(), *context.tools.in_catalogue())
    open_readers = context.turn.shelf.open_readers
    visible = [tool for tool in callable_now if not tool.reader or tool.name in open_readers]
    context.allowed = {tool.name for tool in visible if tool.terminal or context.folded is None}
    await next_()


async def _status(context: DispatchContext, next_: Next) -> None:
    """Tells the reader what the next request is likely about."""
    shelf = context.turn.shelf
    phase: Phase
    if shelf.unread:
        phase = "reading"
    elif context.corrections:
        phase = "checking"
    else:
        phase = "answering" if any(call.tool == search_tool.NAME for call in context.turn.calls) else "searching"
    context.turn.emit(Status(phase=phase))
    await next_()
