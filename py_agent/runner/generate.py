"""One model request: prompt in, completion out, taken apart while it streams."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, cast

from py_agent.engines.base import EngineInfo
from py_agent.model.errors import AgentError, EngineError
from py_agent.model.prompt import Chunk, EndReason, Prompt, Usage
from py_agent.prompt.dialects import count_parts, dialect
from py_agent.prompt.output import Output
from py_agent.prompt.parsers.chars import join_halves
from py_agent.runner.contexts import DispatchContext
from py_agent.runner.events import AnswerDelta
from py_agent.runner.limits import check_limits, out_of_time
from py_agent.runner.observed import GenerationStats, RequestEnd, RequestStart

if TYPE_CHECKING:
    from py_agent.prompt.draft import DraftReader
    from py_agent.prompt.splitter import StreamSplitter


async def generate(context: DispatchContext) -> Output:
    """Runs the engine on the conversation as it stands; drafts of an answer stream out as they come.

    Raises:
        LimitReached: The turn has used its tokens or its time.
        EngineError: As ``Engine.generate``; ``cut`` when the stream ended early, ``empty`` when nothing came.
        asyncio.CancelledError: The engine was told to stop.
    """
    turn = context.turn
    check_limits(turn)
    turn.dispatches += 1
    request = _Request(context, turn.dispatches)
    try:
        return await request.run()
    except AgentError as error:
        request.end("error", error.code)
        raise
    except BaseException:
        request.end("cancelled")
        raise


class _Request:
    """One request while it runs."""

    def __init__(self, context: DispatchContext, number: int) -> None:
        # What takes completions apart is not needed before the first one: it must not cost the boot anything.
        from py_agent.prompt.draft import DraftReader
        from py_agent.prompt.splitter import StreamSplitter

        self._context = context
        self._number = number
        self._dialect = dialect(context.turn.engine.info().dialect)
        self._splitter = StreamSplitter(context.conversation.tools)
        self._new_draft = DraftReader
        self._drafts: dict[int, DraftReader] = {}
        self._raw: list[str] = []
        self._native: list[Chunk] = []
        self._usage = Usage()
        self._ended = False
        self._prompt_tokens = 0
        self._started = time.perf_counter()
        self._first_ms: float | None = None

    async def run(self) -> Output:
        turn = self._context.turn
        prompt = self._context.conversation.prompt(self._context)
        _refuse_media(prompt, turn.engine.info())
        parts = self._dialect.render_parts(prompt)
        rendered = "".join(parts)
        self._prompt_tokens = count_parts(self._dialect, parts, turn.count)
        turn.observe(
            RequestStart(
                number=self._number,
                purpose=self._context.purpose,
                prompt=rendered,
                prompt_tokens=self._prompt_tokens,
            )
        )
        self._started = time.perf_counter()
        reason: EndReason | None = None
        # The protocol promises an iterator; the engines give generators, which want closing when we leave early.
        stream = cast(Any, turn.engine.generate(prompt, self._context.options))
        try:
            async with asyncio.timeout(turn.seconds_left), aclosing(stream):
                async for chunk in stream:
                    if self._first_ms is None:
                        self._first_ms = self._ms()
                    if chunk.kind == "end":
                        reason, self._usage = chunk.reason, chunk.usage
                        break
                    self._take(chunk)
                    if self._splitter.output.degenerate:
                        break
                    await turn.breathe()
        except TimeoutError:
            raise out_of_time(turn) from None
        output = _checked(self._splitter, self._native, self._raw, reason)
        self.end("length" if reason == "length" else "stop")
        return output

    def end(self, status: Literal["stop", "length", "cancelled", "error"], code: str = "") -> None:
        """Tells how the request ended, once."""
        if self._ended:
            return
        self._ended = True
        turn = self._context.turn
        completion = join_halves("".join(self._raw))
        turn.observe(
            RequestEnd(
                number=self._number, purpose=self._context.purpose, completion=completion, status=status, code=code
            )
        )
        told = self._usage.output_tokens
        prompt_tokens = self._usage.prompt_tokens or self._prompt_tokens
        output_tokens = turn.count(completion) if told is None else told
        turn.tokens += prompt_tokens + output_tokens
        turn.observe(
            GenerationStats(
                number=self._number,
                prompt_tokens=prompt_tokens,
                output_tokens=output_tokens,
                estimated=told is None or self._usage.prompt_tokens is None,
                first_ms=self._first_ms,
                ms=self._ms(),
            )
        )

    def _take(self, chunk: Chunk) -> None:
        if chunk.kind != "text":
            self._native.append(chunk)
            self._raw.append(chunk.text if chunk.call is None else self._dialect.render_call(chunk.call))
            return
        self._raw.append(chunk.text)
        for piece in self._splitter.feed(chunk.text):
            if piece.kind == "call":
                draft = self._drafts.setdefault(piece.number, self._new_draft())
                _send(self._context, draft.feed(piece.text))

    def _ms(self) -> float:
        return (time.perf_counter() - self._started) * 1_000


def _refuse_media(prompt: Prompt, info: EngineInfo) -> None:
    """What an engine cannot take must not be left out silently.

    Raises:
        EngineError: ``refused``: there is an attachment of a kind that it does not take.
    """
    kinds = {media.kind for message in prompt.messages for media in message.attachments} - set(info.media)
    if kinds:
        raise EngineError(
            f"The engine {info.name} takes no {' and no '.join(sorted(kinds))}.",
            hint="Ask with text only, or choose a model that takes it.",
            code="refused",
        )


def _checked(splitter: StreamSplitter, native: list[Chunk], raw: list[str], reason: str | None) -> Output:
    # An engine that takes calls apart itself leaves out one that the limit cut: nothing came, yet it wrote something.
    if splitter.output.degenerate or not (raw or reason in ("length", "cancelled")):
        raise EngineError(
            "The model wrote nothing that can be read." if not raw else "The model wrote filler tokens only.",
            hint="Ask again; if it keeps happening, this device cannot run the model properly: use search answers.",
            code="empty",
        )
    if reason is None:
        raise EngineError("The model's answer stopped in the middle without an end.", hint="Ask again.", code="cut")
    if reason == "cancelled":
        # Somebody stopped the engine and not the task: for the turn it is the same.
        raise asyncio.CancelledError
    output = splitter.finish(reason)
    for chunk in native:
        if chunk.call is not None:
            output.calls.append(chunk.call)
        elif chunk.kind == "thinking":
            output.thinking += chunk.text
    return output


def _send(context: DispatchContext, text: str) -> None:
    # What would be refused anyway must not flicker on the reader's screen.
    if text and context.purpose == "worker" and not context.turn.shelf.unread:
        context.drafted = True
        context.turn.emit(AnswerDelta(text=text))
