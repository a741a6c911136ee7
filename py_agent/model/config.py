"""The settings of an agent."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from py_agent.model.base import Record

#: A result of at most this many tokens is shown whole and counts as read: below it a handle and a read cost more.
INLINE_RESULT_TOKENS = 256

#: What one ``artifact_*`` read shows at most. The largest passage (1,600 characters) fits with its header.
READER_TOKENS = 800

#: Model requests of one turn, the planner's not counted: plan 1 search, up to 5 reads, an answer and 5 corrections.
MAX_DISPATCHES = 12

#: Seconds of one turn at most, the reader's time to decide not counted. The slowest device on which a model runs at all
#: (a software GPU) takes about five minutes for a turn of six requests; what takes three times as long has gone wrong.
MAX_TURN_SECONDS = 900.0

#: Passages that one search brings: hit@5 is where the measured retrievers stop gaining per token.
SEARCH_TOP = 5

#: Memories that stand in a prompt: most readers have fewer, and each costs some twenty tokens.
RECALL_TOP = 3

#: How long Python may keep the event loop, in milliseconds, in a worker ...
YIELD_MS_WORKER = 50
#: ... and on the page's main thread, where a frame is 16 ms.
YIELD_MS_MAIN = 10


class AgentConfig(Record):
    """How an agent behaves. Unknown settings are refused.

    Attributes:
        title: What the documentation is called, for the model's instructions.
        planner: Whether a planning dispatch opens each turn.
        max_dispatches: Model requests of one turn at most, the planner's not counted.
        instructions: The owner's standing instructions; they stand in the system message.
        prefetch_top: Passages that stand in the prompt before the model asks; 0: none.
        recall_top: Memories that stand in the prompt, where there is a memory store.
        max_turn_tokens: Tokens of one turn at most, prompts and completions of all its requests; None: no bound.
        max_turn_seconds: Wall time of one turn at most, in seconds; waiting for the reader does not count.
        max_output_tokens: Generation cap of one request, and the part of the window held back for it.
        inline_result_tokens, reader_tokens: See the constants of the same name.
        search_top: Passages that one search brings.
        yield_ms: Longest time without giving the event loop a turn, in milliseconds.
    """

    model_config = ConfigDict(extra="forbid")

    title: str = "this documentation"
    instructions: tuple[str, ...] = ()
    planner: bool = True
    prefetch_top: int = Field(default=0, ge=0, le=20)
    recall_top: int = Field(default=RECALL_TOP, ge=0, le=20)
    max_dispatches: int = Field(default=MAX_DISPATCHES, ge=1)
    max_turn_tokens: int | None = Field(default=None, ge=1)
    max_turn_seconds: float = Field(default=MAX_TURN_SECONDS, gt=0)
    max_output_tokens: int = Field(default=1_024, ge=64)
    inline_result_tokens: int = Field(default=INLINE_RESULT_TOKENS, ge=0)
    reader_tokens: int = Field(default=READER_TOKENS, ge=200)
    search_top: int = Field(default=SEARCH_TOP, ge=1, le=20)
    yield_ms: float = Field(default=YIELD_MS_WORKER, gt=0)
