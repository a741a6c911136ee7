"""An engine that says what it was told to say: for tests, demonstrations and replays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from py_agent.engines.base import EngineInfo, Progress
from py_agent.model.errors import EngineError
from py_agent.model.prompt import Chunk, EndReason, GenerateOptions, Prompt

#: Window of the engine in tokens, unless told otherwise.
WINDOW = 8_192


class ScriptedEngine:
    """Gives dispatch n the n-th output.

    Args:
        outputs: Raw dialect text; an error in its place is raised.
        chunk_size: Characters of one chunk.
        repeat_last: Whether the last output is given for ever. Else a dispatch too many is an ``empty`` error.
        reasons: End reason of each output; ``stop`` where there is none.
        window: Context window in tokens.
        delay: Seconds between chunks.
    """

    def __init__(
        self,
        outputs: Sequence[str | EngineError],
        *,
        chunk_size: int = 7,
        repeat_last: bool = False,
        reasons: Sequence[EndReason] = (),
        window: int = WINDOW,
        delay: float = 0.0,
    ) -> None:
        self._outputs = list(outputs)
        self._chunk_size = chunk_size
        self._repeat_last = repeat_last
        self._reasons = list(reasons)
        self._window = window
        self._delay = delay
        self._cancelled = False
        self._busy = False
        #: Every prompt that was given, in order.
        self.prompts: list[Prompt] = []

    async def open(self, progress: Progress | None = None) -> None:
        """Nothing to do."""

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
        """Streams the next output.

        Raises:
            EngineError: The one that the script holds; ``empty`` behind the end of the script; ``refused`` when busy.
        """
        if self._busy:
            raise EngineError("The engine is generating already.", hint="Wait for its end.", code="refused")
        number = len(self.prompts)
        self.prompts.append(prompt)
        if number >= len(self._outputs) and not (self._repeat_last and self._outputs):
            raise EngineError("The script has no more outputs.", hint="Give one for each dispatch.", code="empty")
        index = min(number, len(self._outputs) - 1)
        output = self._outputs[index]
        if isinstance(output, EngineError):
            raise output
        self._busy, self._cancelled = True, False
        try:
            for at in range(0, len(output), self._chunk_size):
                await asyncio.sleep(self._delay)
                if self._cancelled:
                    yield Chunk(kind="end", reason="cancelled")
                    return
                yield Chunk(kind="text", text=output[at : at + self._chunk_size])
            yield Chunk(kind="end", reason=self._reasons[index] if index < len(self._reasons) else "stop")
        finally:
            self._busy = False

    async def cancel(self) -> None:
        """Ends the stream that runs."""
        self._cancelled = True

    async def count_tokens(self, text: str) -> int | None:
        """None: it has no tokenizer."""
        return None

    def info(self) -> EngineInfo:
        """What the engine is."""
        return EngineInfo(name="scripted", model=None, window=self._window)

    async def close(self) -> None:
        """Nothing to free."""
