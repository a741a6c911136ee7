"""One model request: prompt in, completion out, taken apart while it streams."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import Any, cast

from py_agent.model.errors import EngineError
from py_agent.model.prompt import Chunk
from py_agent.prompt.dialects import gemma4
from py_agent.prompt.draft import DraftReader
from py_agent.prompt.splitter import Output, StreamSplitter
from py_agent.runner.contexts import DispatchContext
from py_agent.runner.events import AnswerDelta, Dispatch


async def generate(context: DispatchContext) -> Output:
    """Runs the engine on the conversation as it stands; drafts of an answer stream out as they come.

    Raises:
        EngineError: As ``Engine.generate``; ``cut`` when the stream ended early, ``empty`` when nothing came.
        asyncio.CancelledError: The engine was told to stop.
    """
    turn = context.turn
    prompt = context.conversation.prompt()
    rendered = gemma4.render(prompt)
    started = time.perf_counter()
    splitter = StreamSplitter()
    drafts: dict[int, DraftReader] = {}
    raw: list[str] = []
    native: list[Chunk] = []
    reason: str | None = None
    turn.dispatches += 1
    try:
        # The protocol promises an iterator; the engines give generators, which want closing when we leave early.
        stream = cast(Any, turn.engine.generate(prompt, context.options))
        async with aclosing(stream):
            async for chunk in stream:
                if chunk.kind == "end":
                    reason = chunk.reason
                    break
                if chunk.kind == "text":
                    raw.append(chunk.text)
                    for piece in splitter.feed(chunk.text):
                        if piece.kind == "call":
                            draft = drafts.setdefault(piece.number, DraftReader())
                            _send(context, draft.feed(piece.text))
                else:
                    native.append(chunk)
                    raw.append(chunk.text if chunk.call is None else gemma4.render_call(chunk.call))
                if splitter.output.degenerate:
                    break
                await turn.breathe()
    finally:
        turn.emit(
            Dispatch(
                number=turn.dispatches,
                purpose=context.purpose,
                prompt=rendered,
                completion="".join(raw),
                prompt_tokens=turn.count(rendered),
                ms=(time.perf_counter() - started) * 1_000,
            )
        )
    return _checked(splitter, native, raw, reason)


def _checked(splitter: StreamSplitter, native: list[Chunk], raw: list[str], reason: str | None) -> Output:
    if splitter.output.degenerate or not raw:
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
