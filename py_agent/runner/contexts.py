"""What travels through the pipelines of a turn and of a dispatch."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from py_agent.artifacts.shelf import Shelf
from py_agent.engines.base import Engine
from py_agent.model.clock import Clock, Offset, utc_now, zone_offset
from py_agent.model.config import AgentConfig
from py_agent.model.gate import GateAnswer, GateRequest
from py_agent.model.instruction import StandingInstruction
from py_agent.model.memory import Memory
from py_agent.model.passage import Passage
from py_agent.model.plan import Plan
from py_agent.model.prompt import GenerateOptions
from py_agent.model.record import Source, StoredThought, TurnStatus
from py_agent.model.retrievable import Retrievable
from py_agent.model.tool import ToolRegistry
from py_agent.model.tool_call import ToolCall
from py_agent.prompt.conversation import Conversation, HistoryTurn
from py_agent.prompt.envelopes import NonceMaker
from py_agent.prompt.output import Output
from py_agent.prompt.tokens import TokenCounter
from py_agent.runner.breathe import Breather
from py_agent.runner.events import AnswerReset
from py_agent.runner.observed import Purpose
from py_agent.runner.signals import Signals
from py_agent.runner.turn_gate import TurnGates
from py_agent.runner.types import Emit, Observe
from py_agent.search.base import Searcher


@dataclass
class Outcome:
    """How a turn ended, as the reader will see it. ``answer`` is Markdown."""

    status: TurnStatus
    answer: str
    sources: tuple[Source, ...] = ()
    related: tuple[Source, ...] = ()


@dataclass
class TurnContext:
    """One turn: the reader's question, what serves it, and what has come of it so far.

    Attributes:
        turn, thread, message: Ids of the turn, its thread and the stored question.
        question: The reader's words, as typed.
        page: Address of the page that the reader is on, if the widget told.
        history: Earlier turns of the thread, oldest first.
        retrievables, memories, standing: What stands in the prompt without the model having asked.
        plan: None until the planner has run, and where it gave up.
        calls: Executed tool calls, in order.
        thoughts: What the record of the turn keeps of the model's thoughts.
        dispatches: Model requests so far, the planner's included.
        tokens: Tokens of these requests, prompts and completions.
        waited_s: Seconds in which the turn waited for its reader.
        requested: How often each call was asked for, by checksum, run or not.
        additions: What the reader wrote while the turn ran and the model has not been told.
        told: What the reader wrote while the turn ran and the model has been told.
        call_ids: Ids given to calls so far; a refused proposal has one, but is no executed call.
        outcome: Set once, when the turn has its end.
        stash: For middlewares that need to remember something; keys are theirs.
    """

    turn: str
    thread: str
    message: str
    question: str
    page: str | None
    engine: Engine
    search: Searcher
    shelf: Shelf
    config: AgentConfig
    emit: Emit
    observe: Observe
    count: TokenCounter
    nonce: NonceMaker
    breathe: Breather
    gates: TurnGates
    clock: Clock = utc_now
    zone_offset: Offset = zone_offset
    started: float = field(default_factory=time.perf_counter)
    history: list[HistoryTurn] = field(default_factory=list)
    retrievables: list[Retrievable] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    standing: list[StandingInstruction] = field(default_factory=list)
    plan: Plan | None = None
    calls: list[ToolCall] = field(default_factory=list)
    thoughts: list[StoredThought] = field(default_factory=list)
    dispatches: int = 0
    tokens: int = 0
    waited_s: float = 0.0
    requested: dict[str, int] = field(default_factory=dict)
    additions: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    call_ids: int = 0
    outcome: Outcome | None = None
    stash: dict[str, Any] = field(default_factory=dict)

    def tool_call_count(self, checksum: str) -> int:
        """How often the call with this checksum has run in this turn."""
        return sum(call.ran and call.checksum == checksum for call in self.calls)

    async def wait_for(self, request: GateRequest, schema: Any = None) -> GateAnswer:
        """Asks the reader; see ``TurnGates.wait_for``. The time that it takes does not count against the turn's."""
        begin = time.perf_counter()
        try:
            return await self.gates.wait_for(request, schema)
        finally:
            self.waited_s += time.perf_counter() - begin

    @property
    def seconds_left(self) -> float:
        """Seconds until ``max_turn_seconds`` is reached; negative behind it."""
        return self.config.max_turn_seconds - (time.perf_counter() - self.started - self.waited_s)

    async def passage(self, passage_id: str) -> Passage | None:
        """A passage of the index; None if there is none of this id."""
        try:
            return await self.search.passage(passage_id)
        except KeyError:
            return None


@dataclass
class Proposal:
    """A call that would end the turn, waiting for the gates' judgement."""

    call_id: str
    tool: str
    args: Any


@dataclass
class DispatchContext:
    """One run of the model loop inside a turn: the planner's, or the worker's.

    Attributes:
        conversation: What the engine is shown; append-only.
        tools: The registry; ``allowed`` names those that may run now, which the executor enforces.
        iteration: Counted from 0.
        output: The completion of this iteration, taken apart; None before the engine has run.
        proposal: The terminal call of this iteration, if there was one.
        folded: The iteration in which the model was told to stop calling and to answer; None: it was not.
        bad_calls: Calls of the model that the engine itself could not read.
        corrections: How often each gate has corrected, by gate: no nudge comes twice in the same words.
    """

    turn: TurnContext
    purpose: Purpose
    conversation: Conversation
    tools: ToolRegistry
    options: GenerateOptions
    allowed: set[str] = field(default_factory=set)
    signals: Signals = field(default_factory=Signals)
    iteration: int = 0
    output: Output | None = None
    proposal: Proposal | None = None
    ran: list[ToolCall] = field(default_factory=list)
    drafted: bool = False
    folded: int | None = None
    bad_calls: int = 0
    corrections: dict[str, int] = field(default_factory=dict)

    @property
    def done(self) -> Output:
        """The completion of this iteration, where one is known to be there."""
        assert self.output is not None, "the executor has not run"
        return self.output

    def correct(self, gate: str) -> int:
        """Counts one more correction by ``gate``; returns how many there were before."""
        before = self.corrections.get(gate, 0)
        self.corrections[gate] = before + 1
        return before

    def drop_draft(self, reason: str) -> None:
        """Tells the widget that the draft it shows was rejected, if it shows one."""
        if self.drafted:
            self.drafted = False
            self.turn.emit(AnswerReset(reason=reason))
