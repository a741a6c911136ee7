"""The Engine boundary: one class that every model, real or not, stands behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Protocol

from py_agent.model.base import Record
from py_agent.model.media import MediaKind
from py_agent.model.prompt import Chunk, GenerateOptions, Prompt

#: Called with (bytes loaded, total bytes or None) while an engine opens.
Progress = Callable[[int, int | None], None]


class EngineInfo(Record):
    """What an engine can do.

    Attributes:
        name: ``extractive``, ``scripted``, ``litert`` ...
        model: The model's name, or None where there is no model (the widget then says "search answers, no model").
        window: Context window in tokens, prompt and output together.
        dialect: The dialect that it reads and writes: ``gemma4``, ``chatml``, or ``none`` (it takes messages and gives
            parsed chunks).
        constrained, prefix_reuse, thinking: Whether the engine offers constrained decoding, reuses a common prefix of
            prompts, has a thinking channel.
        media: Kinds of attachments that it takes.
    """

    name: str
    model: str | None
    window: int
    dialect: str = "gemma4"
    constrained: bool = False
    prefix_reuse: bool = False
    thinking: bool = False
    media: tuple[MediaKind, ...] = ()


class Engine(Protocol):
    """A source of completions. One executor: a second ``generate`` while one runs waits or raises ``refused``."""

    async def open(self, progress: Progress | None = None) -> None:
        """Makes the engine ready.

        Raises:
            EngineError: ``load_failed`` (missing or damaged model, no adapter), ``out_of_memory``, ``lost``.
        """
        ...

    def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
        """Streams one completion; the last chunk is ``end``. Close the iterator (``contextlib.aclosing``) to cancel.

        Raises:
            EngineError: ``overflow``, ``out_of_memory``, ``lost``, ``refused``, ``empty`` (not one chunk), ``stalled``.
        """
        ...

    async def cancel(self) -> None:
        """Ends the stream that runs, if one does. Its iterator then ends with reason ``cancelled``."""
        ...

    async def count_tokens(self, text: str) -> int | None:
        """Tokens in ``text``, or None where the engine cannot tell (the estimator then counts)."""
        ...

    def info(self) -> EngineInfo:
        """What the engine is; valid after ``open``."""
        ...

    async def close(self) -> None:
        """Frees what the engine holds. Closing twice is allowed."""
        ...


class Port(Protocol):
    """A line to a worker, supplied by ``browser/`` (tests bring their own); its messages: ``worker/protocol.js``."""

    async def request(
        self, message: dict[str, Any], body: bytes | None = None, progress: Progress | None = None
    ) -> Any:
        """Sends a request and returns its result; ``progress`` gets what the worker reports meanwhile.

        Raises:
            AgentError: The typed error that the worker answered with, or ``lost`` when the worker died.
        """
        ...

    def stream(self, message: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Sends a request that answers with ``chunk`` messages and one ``end``; yields them, the ``end`` included.

        Closing the iterator early sends ``cancel``.
        """
        ...

    async def cancel_streams(self) -> None:
        """Asks the worker to end every stream that runs; each then yields an ``end`` with reason ``cancelled``."""
        ...
