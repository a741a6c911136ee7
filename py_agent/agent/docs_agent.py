"""DocsAgent: answers questions about one documentation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from py_agent.agent.pipelines import Pipelines
from py_agent.agent.turn import Services, Turn
from py_agent.engines.base import Engine
from py_agent.model.base import Record
from py_agent.model.clock import Clock, Offset, utc_now, zone_offset
from py_agent.model.config import AgentConfig
from py_agent.model.errors import AgentError
from py_agent.prompt.envelopes import NonceMaker, break_tokens, random_nonce
from py_agent.prompt.tokens import TokenCounter, counter_for
from py_agent.prompt.wording import warm_up
from py_agent.runner.breathe import Breather
from py_agent.runner.bus import Bus, ObservabilityBus
from py_agent.runner.events import Event, TurnEnd
from py_agent.runner.types import Emit, Observe
from py_agent.search.base import Searcher
from py_agent.storage.base import InstructionStore, MemoryStore, Spool, TurnStore
from py_agent.storage.store import new_id
from py_agent.tools.toolset import ExtraTools
from py_agent.trace.tracing import Tracing

#: Characters of the documentation's title that prompts carry.
MAX_TITLE_CHARS = 100


class DocsAgent:
    """Answers questions about one documentation.

    Args:
        engine: An opened engine; one turn at a time uses it.
        search: The opened index.
        store: Where threads are kept.
        spool: Where large tool results go.
        config: Settings.
        count: Counts tokens; by default an estimate that is calibrated for the engine's model.
        nonce: Makes the nonces of envelopes; replays bring their own.
        prepare: Awaited before the first turn: a page adds there what it did not need to open.
        tracing: Where the traces of turns go; None: nowhere.
        tools: Makes further tools for each turn.
        pipelines: Further steps for each turn.
        memories: Where the tools ``remember`` and ``recall`` work; None: there are none.
        instructions: Standing instructions besides those of ``config``: a reader's wishes stand beside each question.
        clock, zone_offset: What time it is, and where; a page brings its browser's time zones.
        new_turn: Makes the id of a turn; replays bring their own.
    """

    def __init__(
        self,
        engine: Engine,
        search: Searcher,
        store: TurnStore,
        spool: Spool,
        config: AgentConfig | None = None,
        *,
        count: TokenCounter | None = None,
        nonce: NonceMaker = random_nonce,
        prepare: Callable[[], Awaitable[None]] | None = None,
        tracing: Tracing | None = None,
        tools: ExtraTools | None = None,
        pipelines: Pipelines | None = None,
        new_turn: Callable[[], str] = new_id,
        memories: MemoryStore | None = None,
        instructions: InstructionStore | None = None,
        clock: Clock = utc_now,
        zone_offset: Offset = zone_offset,
    ) -> None:
        config = config or AgentConfig()
        # A title may come from a page: in the system message it must be one plain line.
        title = " ".join(break_tokens(config.title).split())[:MAX_TITLE_CHARS]
        self._services = Services(
            engine=engine,
            search=search,
            store=store,
            spool=spool,
            config=config.model_copy(update={"title": title}),
            count=count or counter_for(engine.info().model),
            nonce=nonce,
            new_turn=new_turn,
            memories=memories,
            instructions=instructions,
            clock=clock,
            zone_offset=zone_offset,
            tracing=tracing,
            tools=tools,
            pipelines=pipelines or Pipelines(),
        )
        self._prepare = prepare
        self._warm = False
        self._warming = asyncio.Lock()
        self._turns: dict[str, Turn] = {}
        #: What readers see of every turn. What a subscriber raises ends the turn: it is a programming error.
        self.events: Bus[Event] = Bus()
        #: What turns do inside. What a subscriber raises is an event for the others.
        self.observed = ObservabilityBus()

    async def warm_up(self) -> None:
        """Does what would make the first turn slower than the others. A host may call it while the reader types.

        Raises:
            AgentError: What ``prepare`` raised; the next call tries again.
        """
        if self._warm:
            return
        # The host's call and the first turn's may meet.
        async with self._warming:
            if self._warm:
                return
            if self._prepare is not None:
                await self._prepare()
            breathe = Breather(self._services.config.yield_ms)
            for late in ("splitter", "draft"):
                import_module(f"py_agent.prompt.{late}")
                await breathe()
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
        interactive: bool = False,
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
            interactive: Whether somebody answers ``gate_open`` events with ``resolve_gate``. Else whatever needs the
                reader's word is not done.

        Returns:
            How the turn ended. Engine, tool, index and storage errors end it as ``failed``, limits as what was found.

        Raises:
            asyncio.CancelledError: The task was cancelled.
            PipelineError, AlreadySignalled: Programming errors; the question is marked interrupted.
        """
        functional, observability = self._buses(emit, observe)
        turn = Turn(
            self._services,
            thread,
            text,
            page,
            interactive=interactive,
            functional=functional,
            observability=observability,
            warm_up=self.warm_up,
        )
        self._turns[turn.id] = turn
        try:
            return await turn.run()
        finally:
            del self._turns[turn.id]

    def resolve_gate(self, turn: str, gate: str, value: Any) -> None:
        """The reader's answer to a ``gate_open`` event.

        Args:
            turn: The turn's id.
            gate: The gate's id.
            value: True or False to approve, text to answer.

        Raises:
            GateError: ``bad_answer`` (the gate stays open), ``no_gate``.
            AgentError: ``turn_over``: no such turn runs.
        """
        self._running(turn).gates.resolve(gate, value)

    def expire_gate(self, turn: str, gate: str) -> None:
        """Ends the time of a gate now; see ``TurnGates.expire``.

        Raises:
            AgentError: ``turn_over``: no such turn runs.
        """
        self._running(turn).gates.expire(gate)

    async def add(self, turn: str, text: str) -> str:
        """Adds the reader's words to a turn that runs: the model is told before anything counts as its answer.

        Returns:
            Id of the stored message.

        Raises:
            AgentError: ``turn_over``: it has ended; the words are stored as an interrupted question.
            StorageError: The database refused.
        """
        return await self._running(turn).add(text)

    def _running(self, turn: str) -> Turn:
        if turn not in self._turns:
            raise AgentError("This answer is finished.", hint="Ask it as a question of its own.", code="turn_over")
        return self._turns[turn]

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
