"""DocsAgent: wires runners, planner, tools and gates into the turn that a reader sees."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from py_agent.artifacts.readers import readers
from py_agent.artifacts.shelf import Shelf
from py_agent.context.fit import fit_window
from py_agent.context.history import turns_of
from py_agent.engines.base import Engine
from py_agent.gates.cascade import cascade, default_gates
from py_agent.gates.terminator import related, terminator
from py_agent.model.base import Record
from py_agent.model.config import AgentConfig
from py_agent.model.errors import AgentError
from py_agent.model.prompt import GenerateOptions
from py_agent.model.record import StoredMessage, StoredThought, StoredToolCall, TurnRecord
from py_agent.model.tool import ToolRegistry
from py_agent.planner.book_end import plan_thought, plan_turn
from py_agent.prompt.conversation import Conversation
from py_agent.prompt.envelopes import NonceMaker, break_tokens, envelope, random_nonce
from py_agent.prompt.tokens import TokenCounter, estimate_tokens
from py_agent.prompt.wording import warm_up, wording
from py_agent.runner.breathe import Breather
from py_agent.runner.bus import Bus, ObservabilityBus
from py_agent.runner.contexts import DispatchContext, Outcome, TurnContext
from py_agent.runner.dispatch import DispatchRunner, LimitReached
from py_agent.runner.events import Event, Phase, Status, TurnEnd, TurnStart
from py_agent.runner.executor import execute
from py_agent.runner.pipeline import PipelineError
from py_agent.runner.signals import AlreadySignalled
from py_agent.runner.turn import TurnRunner
from py_agent.runner.types import Emit, Middleware, Next, Observe
from py_agent.search.base import Searcher
from py_agent.storage.base import Spool, TurnStore
from py_agent.tools import search_docs as search_tool
from py_agent.tools.delivery import provide_answer, say_i_dont_know
from py_agent.tools.read_page import read_page
from py_agent.tools.search_docs import search_docs

__all__ = ["AgentConfig", "DocsAgent"]

# Mistakes in the wiring, not in the world: a reader can do nothing about them, so they are no failed turn.
_PROGRAMMING_ERRORS = (PipelineError, AlreadySignalled)

#: Characters of the documentation's title that prompts carry.
MAX_TITLE_CHARS = 100
#: Characters of the address of the reader's page that the prompt carries.
MAX_PAGE_CHARS = 200


class DocsAgent:
    """Answers questions about one documentation.

    Args:
        engine: An opened engine; one turn at a time uses it.
        search: The opened index.
        store: Where threads are kept.
        spool: Where large tool results go.
        config: Settings.
        count: Counts tokens; by default an estimate on the side of too many.
        nonce: Makes the nonces of envelopes; replays bring their own.
        prepare: Awaited before the first turn: a page adds there what it did not need to open.
    """

    def __init__(
        self,
        engine: Engine,
        search: Searcher,
        store: TurnStore,
        spool: Spool,
        config: AgentConfig | None = None,
        *,
        count: TokenCounter = estimate_tokens,
        nonce: NonceMaker = random_nonce,
        prepare: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._engine = engine
        self._search = search
        self._store = store
        self._spool = spool
        config = config or AgentConfig()
        # A title may come from a page: in the system message it must be one plain line.
        title = " ".join(break_tokens(config.title).split())[:MAX_TITLE_CHARS]
        self._config = config.model_copy(update={"title": title})
        self._count = count
        self._nonce = nonce
        self._runner = TurnRunner(self._dispatches)
        #: What readers see of every turn. What a subscriber raises ends the turn: it is a programming error.
        self.events: Bus[Event] = Bus()
        #: What turns do inside. What a subscriber raises is an event for the others.
        self.observed = ObservabilityBus()
        self._prepare = prepare
        self._warm = False

    async def warm_up(self) -> None:
        """Does what would make the first turn slower than the others. A host may call it while the reader types."""
        if not self._warm:
            if self._prepare is not None:
                await self._prepare()
            breathe = Breather(self._config.yield_ms)
            await warm_up(breathe)
            for kind in Record.kinds():
                kind.model_rebuild()
                await breathe()
            self._warm = True

    async def run_turn(
        self,
        thread: str,
        text: str,
        *,
        emit: Emit | None = None,
        observe: Observe | None = None,
        page: str | None = None,
    ) -> TurnEnd:
        """Runs one turn to its end.

        The question is committed at once; the rest of the turn in one transaction at the end, or not at all. To stop a
        turn, cancel the task: the question is then marked interrupted, a ``TurnEnd`` with status ``interrupted`` is
        emitted, and ``CancelledError`` goes on to the caller.

        Args:
            thread: Id of the thread.
            text: The reader's words.
            emit: Takes the functional events of this turn, in order, before the subscribers of ``events`` do; the last
                is the ``TurnEnd`` that is returned.
            observe: Takes its observability events likewise.
            page: Address of the page that the reader is on.

        Returns:
            How the turn ended. Engine, tool, index and storage errors end it as ``failed``.

        Raises:
            asyncio.CancelledError: The task was cancelled.
            PipelineError, AlreadySignalled: Programming errors; the question is marked interrupted.
        """
        functional, observability = self._buses(emit, observe)
        started = time.perf_counter()
        turn_id = uuid.uuid4().hex
        message = ""
        context: TurnContext | None = None

        def end(outcome: Outcome, *, error: AgentError | None = None, answer_id: str = "") -> TurnEnd:
            event = TurnEnd(
                turn=turn_id,
                thread=thread,
                message=answer_id or message,
                status=outcome.status,
                answer=outcome.answer,
                sources=outcome.sources,
                related=outcome.related,
                error=None if error is None else error.to_json(),
                dispatches=context.dispatches if context is not None else 0,
                ms=(time.perf_counter() - started) * 1_000,
            )
            functional.emit(event)
            return event

        try:
            # Shielded, so that a stop in this moment cannot leave a stored question whose id nobody knows.
            message = await _finish(self._store.open_question(thread, text, turn_id))
            functional.emit(TurnStart(turn=turn_id, thread=thread, question=text, message=message))
            await self.warm_up()
            context = self._context(turn_id, thread, message, text, page, functional, observability)
            context.history = turns_of(await self._store.history(thread))
            await self._runner.run(context)
            record = self._record(context)
            await _finish(self._store.commit_turn(record))
        except asyncio.CancelledError as cancelled:
            if isinstance(cancelled, _CancelledLate) and context is not None and context.outcome is not None:
                # The commit was through when the stop came: what is stored is what the reader is told.
                end(context.outcome, answer_id=_answer_id(turn_id))
            else:
                message = message or getattr(cancelled, "result", "")
                await self._give_up(turn_id, message)
                end(Outcome("interrupted", ""))
            raise
        except _PROGRAMMING_ERRORS:
            await self._give_up(turn_id, message)
            raise
        except AgentError as error:
            await self._give_up(turn_id, message)
            found = related(context) if context is not None else ()
            return end(Outcome("failed", "", related=found), error=error)
        except BaseException:
            await self._give_up(turn_id, message)
            raise
        assert context.outcome is not None
        return end(context.outcome, answer_id=record.answer.id)

    def _buses(self, emit: Emit | None, observe: Observe | None) -> tuple[Bus[Event], ObservabilityBus]:
        """The buses of one turn: its own listeners first, then those of the agent."""
        functional: Bus[Event] = Bus()
        observability = ObservabilityBus()
        if emit is not None:
            functional.on(emit)
        if observe is not None:
            observability.on(observe)
        functional.on(self.events.emit)
        observability.on(self.observed.emit)
        return functional, observability

    def _context(
        self,
        turn_id: str,
        thread: str,
        message: str,
        text: str,
        page: str | None,
        functional: Bus[Event],
        observability: ObservabilityBus,
    ) -> TurnContext:
        config = self._config
        shelf = Shelf(
            self._spool,
            _spool_prefix(turn_id),
            count=self._count,
            nonce=self._nonce,
            inline_tokens=config.inline_result_tokens,
            reader_tokens=config.reader_tokens,
        )
        return TurnContext(
            turn=turn_id,
            thread=thread,
            message=message,
            question=text,
            page=page,
            engine=self._engine,
            search=self._search,
            shelf=shelf,
            config=config,
            emit=functional.emit,
            observe=observability.emit,
            count=self._count,
            nonce=self._nonce,
            breathe=Breather(config.yield_ms),
        )

    async def _dispatches(self, turn: TurnContext) -> None:
        """The body of a turn: the planner's dispatch, then the worker's."""
        window = self._engine.info().window
        forged = readers(turn.shelf)
        tools = ToolRegistry.of(
            [
                search_docs(self._search, turn.config.search_top),
                read_page(self._search),
                *forged,
                provide_answer(),
                say_i_dont_know(),
            ]
        )
        fit = fit_window(window)
        if turn.config.planner:
            await plan_turn(turn, [tool.name for tool in tools.visible() if not tool.reader], [fit])
        conversation = Conversation(
            wording("system", title=turn.config.title), tools=tools.specs(), history=turn.history
        )
        conversation.user(_question(turn))
        context = DispatchContext(
            turn=turn,
            purpose="worker",
            conversation=conversation,
            tools=tools,
            options=GenerateOptions(max_output_tokens=turn.config.max_output_tokens),
        )
        runner = DispatchRunner(
            execute,
            input_pipeline=[_allow({tool.name for tool in forged}), _status, fit],
            output_pipeline=[cascade(default_gates()), terminator],
            max_iterations=turn.config.max_dispatches,
        )
        try:
            await runner.run(context)
        except LimitReached:
            context.drop_draft("the turn reached its limit")
            found = related(turn)
            answer = wording("reader_unverified", title=turn.config.title, related=found)
            turn.outcome = Outcome("abstained", answer, related=found)

    async def _give_up(self, turn_id: str, message: str) -> None:
        """Marks the question interrupted and sweeps the spool. What is already wrong must not get worse by it."""
        if not message:
            return
        for write in (self._store.mark_interrupted(message), self._spool.delete(_spool_prefix(turn_id))):
            # A store out of reach: the question stays open, and the next start marks open questions. A second stop:
            # the write is done, and the turn is ending anyway.
            with contextlib.suppress(AgentError, _CancelledLate):
                await _finish(write)

    def _record(self, turn: TurnContext) -> TurnRecord:
        outcome = turn.outcome
        if outcome is None:
            raise PipelineError(
                "The turn ended without an outcome.", hint="Whatever acks a worker dispatch must set turn.outcome."
            )
        thinking = [
            StoredThought(id=f"{turn.turn}-think{number}", kind="thinking", text=text)
            for number, text in enumerate(turn.stash.get("thinking", ()), start=1)
        ]
        return TurnRecord(
            turn=turn.turn,
            thread=turn.thread,
            question=turn.message,
            answer=StoredMessage(
                id=_answer_id(turn.turn),
                thread=turn.thread,
                turn=turn.turn,
                role="assistant",
                content=outcome.answer,
                status=outcome.status,
                sources=outcome.sources,
                related=outcome.related,
            ),
            tool_calls=tuple(
                StoredToolCall(
                    id=f"{turn.turn}-{call.id}",
                    tool=call.tool,
                    arguments=call.arguments,
                    checksum=call.checksum,
                    is_error=call.is_error,
                    shown=call.shown,
                    spool_key=call.spool_key,
                )
                for call in turn.calls
            ),
            thoughts=(*turn.thoughts, *thinking),
        )


def _answer_id(turn_id: str) -> str:
    return f"{turn_id}-answer"


def _spool_prefix(turn_id: str) -> str:
    return f"turns/{turn_id}/"


def _question(turn: TurnContext) -> str:
    page = " ".join(break_tokens(turn.page or "").split())[:MAX_PAGE_CHARS]
    return wording(
        "question",
        reader=envelope(turn.question, kind="reader", nonce=turn.nonce()),
        page=page,
        plan=plan_thought(turn.plan) if turn.plan is not None else "",
    )


def _allow(reader_names: set[str]) -> Middleware[DispatchContext]:
    """Opens the executor's allow-list: everything visible, and the readers once there is something to read."""

    async def middleware(context: DispatchContext, next_: Next) -> None:
        allowed = {tool.name for tool in context.tools.visible()}
        context.allowed = allowed if context.turn.shelf.handles else allowed - reader_names
        await next_()

    return middleware


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


class _CancelledLate(asyncio.CancelledError):
    """The stop came while a write was under way, and the write was finished first. ``result`` is what it gave back."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


async def _finish(write: Coroutine[Any, Any, Any]) -> Any:
    """Runs a write to its end even if the task is cancelled meanwhile: a write that was begun is done or failed.

    Raises:
        _CancelledLate: The task was cancelled, and the write is done.
    """
    task = asyncio.ensure_future(write)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
    result = task.result()
    if cancelled:
        raise _CancelledLate(result)
    return result
