"""Gives the event loop a turn now and then, so that a click on stop is heard while Python works."""

from __future__ import annotations

import asyncio
import time


class Breather:
    """Await it in every loop; it yields when ``yield_ms`` milliseconds have passed since it last did."""

    def __init__(self, yield_ms: float) -> None:
        self._seconds = yield_ms / 1_000
        self._last = time.perf_counter()

    async def __call__(self) -> None:
        """Yields if it is time."""
        if time.perf_counter() - self._last >= self._seconds:
            await asyncio.sleep(0)
            self._last = time.perf_counter()
