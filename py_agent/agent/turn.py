"""One turn from the reader's question to its end: what is stored when, and what is told to whom."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from py_agent.agent.finish import CancelledLate, finish
from py_agent.agent.pipelines import Pipelines
from py_agent.agent.worker import recorded, run_dispatches
from py_agent.artifacts.shelf import Shelf
from py_agent.context.history import turns_of
from py_agent.context.knowledge import prefetch, recall
from py_agent.engines.base import Engine
from py_agent.gates.terminator import related
from py_agent.model.clock import Clock, Offset, utc_now, zone_offset
from py_agent.model.config import AgentConfig
from py_agent.model.errors import AgentError
from py_agent.model.instruction import StandingInstruction
from py_agent.model.record import Source, StoredArtifact, StoredMessage, StoredThought, StoredToolCall, TurnRecord
from py_agent.model.tool import Tool
from py_agent.prompt.envelopes import NonceMaker
from py_agent.prompt.tokens import TokenCounter
from py_agent.runner.breathe import Breather
from py_agent.runner.bus import Bus, ObservabilityBus
from py_agent.runner.contexts import Outcome, TurnContext
from py_agent.runner.events import Addition, Event, TurnEnd, TurnStart
from py_agent.runner.pipeline import PipelineError
from py_agent.runner.signals import AlreadySignalled
from py_agent.runner.turn import TurnRunner
from py_agent.runner.turn_gate import TurnGates
from py_agent.search.base import Searcher
from py_agent.storage.base import InstructionStore, MemoryStore, Spool, TurnStore
from py_agent.storage.keys import turn_prefix
from py_agent.tools.toolset import ExtraTools
from py_agent.trace.recording import (
    RecordingEngine,
    RecordingInstructions,
    RecordingMemories,
    RecordingSearcher,
    recording_clock,
    recording_nonce,
    recording_offset,
)
from py_agent.trace.tracing import Tracing
from py_agent.trace.writer import TraceWriter

# Mistakes in the wiring, not in the world: a reader can do nothing about them, so they are no failed turn.
_PROGRAMMING_ERRORS = (PipelineError, AlreadySignalled)


@dataclass(frozen=True)
class Services:
    """What serves the turns of an agent; the attributes are the arguments of ``DocsAgent``."""

    engine: Engine
    search: Searcher
    store: TurnStore
    spool: Spool
    config: AgentConfig
    count: TokenCounter
    nonce: NonceMaker
    new_turn: Callable[[], str]
    tracing: Tracing | None = None
    tools: ExtraTools | None = None
    pipelines: Pipelines = field(default_factory=Pipelines)
    memories: MemoryStore | None = None
    instructions: InstructionStore | None = None
    clock: Clock = utc_now
    zone_offset: Offset = zone_offset


class Turn:
    """A turn that runs, or is about to.

    Args:
        services: The agent's.
        thread, text, page: See ``DocsAgent.run_turn``.
        interactive: Whether a reader can answer what the turn asks.
        functional, observability: The buses of this turn.
        warm_up: Awaited before the first request.
    """

    def __init__(
        self,
        services: Services,
        thread: str,
        text: str,
        page: str | None,
        *,
        interactive: bool,
        functional: Bus[Event],
        observability: ObservabilityBus,
        warm_up: Callable[[], Awaitable[None]],
    ) -> None:
        self.id = services.new_turn()
        self.thread = thread
        self._services = services
        self._text = text
        self._page = page
        self._functional = functional
        self._observability = observability
        self._warm_up = warm_up
        self._started = time.perf_counter()
        self._message = ""
        self._added: list[str] = []
        self._early: list[str] = []
        self._context: TurnContext | None = None
        self._ended = False
        self.gates = TurnGates(functional.emit, interactive=interactive)
        self._trace = self._begin_trace()

    async def run(self) -> TurnEnd:
        """Runs the turn to its end. See ``DocsAgent.run_turn``."""
        try:
            return await self._run()
        finally:
            self._ended = True
            if self._trace is not None and self._services.tracing is not None:
                with contextlib.suppress(CancelledLate):  # the trace is whole, and the stop is under way already
                    await finish(self._services.tracing.end(self._trace, thread=self.thread, turn=self.id))

    async def add(self, text: str) -> str:
        """Stores what the reader adds while the turn runs, and has the model told before anything counts.

        Returns:
            The message's id.

        Raises:
            AgentError: ``turn_over``: the turn ended meanwhile; ask it as a question of its own.
            StorageError: The database refused.
        """
        message = await self._services.store.open_question(self.thread, text, self.id)
        context = self._context
        if self._ended or (context is not None and context.outcome is not None):
            await self._services.store.mark_interrupted(message)
            raise AgentError(
                "The answer was ready before this arrived.", hint="Ask it as a question of its own.", code="turn_over"
            )
        self._added.append(message)
        # Before the first request there may be much to load, and no context yet.
        (self._early if context is None else context.additions).append(text)
        self._functional.emit(Addition(text=text, message=message))
        return message

    async def _run(self) -> TurnEnd:
        store = self._services.store
        try:
            # Shielded, so that a stop in this moment cannot leave a stored question whose id nobody knows.
            self._message = await finish(store.open_question(self.thread, self._text, self.id))
            self._functional.emit(
                TurnStart(turn=self.id, thread=self.thread, question=self._text, message=self._message)
            )
            await self._warm_up()
            context = self._context = self._new_context()
            context.additions.extend(self._early)
            history = await store.history(self.thread)
            context.history = turns_of(history)
            context.standing += [StandingInstruction(text=text) for text in self._services.config.instructions]
            if self._services.instructions is not None:
                context.standing += await self._services.instructions.instructions()
            if self._trace is not None:
                self._trace.line("history", messages=[message.model_dump(mode="json") for message in history])
            pipelines = self._services.pipelines
            runner = TurnRunner(
                lambda turn: run_dispatches(turn, pipelines, self._services.tools, self._services.memories),
                input_pipeline=[*pipelines.turn_input, prefetch, recall(self._services.memories)],
                output_pipeline=pipelines.turn_output,
            )
            await runner.run(context)
            record = record_of(context, self._added)
            await finish(store.commit_turn(record))
        except asyncio.CancelledError as cancelled:
            outcome = self._context.outcome if self._context is not None else None
            if isinstance(cancelled, CancelledLate) and outcome is not None:
                # The commit was through when the stop came: what is stored is what the reader is told.
                self._end(outcome, answer_id=answer_id(self.id))
            else:
                self._message = self._message or getattr(cancelled, "result", "")
                await self._give_up()
                self._end(Outcome("interrupted", ""))
            raise
        except _PROGRAMMING_ERRORS:
            await self._give_up()
            raise
        except AgentError as error:
            await self._give_up()
            return self._end(Outcome("failed", "", related=await self._found()), error=error)
        except BaseException:
            await self._give_up()
            raise
        assert context.outcome is not None
        return self._end(context.outcome, answer_id=record.answer.id)

    async def _found(self) -> tuple[Source, ...]:
        """What a reader whose turn failed may look at; nothing where it is the index that fails."""
        if self._context is None:
            return ()
        try:
            return await related(self._context)
        except AgentError:
            return ()

    def _end(self, outcome: Outcome, *, error: AgentError | None = None, answer_id: str = "") -> TurnEnd:
        self._ended = True
        event = TurnEnd(
            turn=self.id,
            thread=self.thread,
            message=answer_id or self._message,
            status=outcome.status,
            answer=outcome.answer,
            sources=outcome.sources,
            related=outcome.related,
            error=None if error is None else error.to_json(),
            dispatches=self._context.dispatches if self._context is not None else 0,
            ms=(time.perf_counter() - self._started) * 1_000,
        )
        self._functional.emit(event)
        return event

    async def _give_up(self) -> None:
        """Marks what the reader wrote interrupted and sweeps the spool. What is wrong must not get worse by it."""
        self._ended = True
        services = self._services
        writes = [services.store.mark_interrupted(message) for message in (self._message, *self._added) if message]
        for write in (*writes, services.spool.delete(turn_prefix(self.id))):
            # A store out of reach: the question stays open, and the next start marks open questions. A second stop:
            # the write is done, and the turn is ending anyway.
            with contextlib.suppress(AgentError, CancelledLate):
                await finish(write)

    def _begin_trace(self) -> TraceWriter | None:
        services = self._services
        if services.tracing is None:
            return None
        trace = services.tracing.begin(thread=self.thread, turn=self.id)
        trace.head(
            turn=self.id,
            thread=self.thread,
            question=self._text,
            page=self._page,
            interactive=self.gates.interactive,
            config=services.config.model_dump(mode="json"),
            engine=services.engine.info().model_dump(mode="json"),
        )
        self._functional.on(lambda event: trace.event(event, "functional"))
        self._observability.on(lambda event: trace.event(event, "observability"))
        self._services = replace(
            services,
            engine=RecordingEngine(services.engine, trace),
            search=RecordingSearcher(services.search, trace),
            tools=_recorded(services.tools, trace),
            memories=RecordingMemories(services.memories, trace) if services.memories is not None else None,
            instructions=(
                RecordingInstructions(services.instructions, trace) if services.instructions is not None else None
            ),
            clock=recording_clock(services.clock, trace),
            zone_offset=recording_offset(services.zone_offset, trace),
            nonce=recording_nonce(services.nonce, trace),
        )
        return trace

    def _new_context(self) -> TurnContext:
        services = self._services
        config = services.config
        breathe = Breather(config.yield_ms)
        shelf = Shelf(
            services.spool,
            turn_prefix(self.id),
            count=services.count,
            nonce=services.nonce,
            inline_tokens=config.inline_result_tokens,
            reader_tokens=config.reader_tokens,
            breathe=breathe,
        )
        return TurnContext(
            turn=self.id,
            thread=self.thread,
            message=self._message,
            question=self._text,
            page=self._page,
            engine=services.engine,
            search=services.search,
            shelf=shelf,
            config=config,
            emit=self._functional.emit,
            observe=self._observability.emit,
            count=services.count,
            nonce=services.nonce,
            breathe=breathe,
            gates=self.gates,
            clock=services.clock,
            zone_offset=services.zone_offset,
        )


def _recorded(tools: ExtraTools | None, trace: TraceWriter) -> ExtraTools | None:
    """An integrator's tools, their declarations and results in the trace."""
    if tools is None:
        return None

    def make(turn: TurnContext) -> list[Tool]:
        made = list(tools(turn))
        if not made:
            return made
        declared = [{**tool.spec().model_dump(mode="json"), "produces": list(tool.produces)} for tool in made]
        trace.line("tools", tools=declared)
        return [recorded(tool, trace.line) for tool in made]

    return make


def answer_id(turn: str) -> str:
    """Id of the message that answers a turn."""
    return f"{turn}-answer"


def record_of(turn: TurnContext, added: list[str]) -> TurnRecord:
    """What a finished turn commits.

    Args:
        turn: The turn.
        added: Ids of the messages that the reader added while it ran.

    Raises:
        PipelineError: The turn has no outcome.
    """
    outcome = turn.outcome
    if outcome is None:
        raise PipelineError("The turn ended without an outcome.", hint="Whatever ends a turn must set turn.outcome.")
    texts: list[Any] = turn.stash.get("thinking", [])
    thinking = [
        StoredThought(id=f"{turn.turn}-think{number}", kind="thinking", text=text)
        for number, text in enumerate(texts, start=1)
    ]
    answer = StoredMessage(
        id=answer_id(turn.turn),
        thread=turn.thread,
        turn=turn.turn,
        role="assistant",
        content=outcome.answer,
        status=outcome.status,
        sources=outcome.sources,
        related=outcome.related,
    )
    calls = tuple(
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
    )
    return TurnRecord(
        turn=turn.turn,
        thread=turn.thread,
        question=turn.message,
        added=tuple(added),
        answer=answer,
        tool_calls=calls,
        thoughts=(*turn.thoughts, *thinking),
        artifacts=tuple(
            StoredArtifact(
                key=artifact.key,
                kind=artifact.kind,
                bytes=artifact.size,
                lines=artifact.lines,
                thread=turn.thread,
                turn=turn.turn,
            )
            for artifact in turn.shelf.artifacts
        ),
    )
