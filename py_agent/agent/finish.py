"""Writes that a stop must not tear: what was begun is done or has failed when the stop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class CancelledLate(asyncio.CancelledError):
    """The stop came while a write was under way, and the write was finished first. ``result`` is what it gave back."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


async def finish(write: Coroutine[Any, Any, Any]) -> Any:
    """Runs a write to its end even if the task is cancelled meanwhile: a write that was begun is done or failed.

    Raises:
        CancelledLate: The task was cancelled, and the write is done.
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
        raise CancelledLate(result)
    return result
