"""Database and spool of the page: the storage worker behind the protocols of ``storage/base.py``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from py_agent.engines.base import Port
from py_agent.model.errors import AgentError, StorageError
from py_agent.storage.base import Row, Statement


class StorageWorker:
    """``Connection`` and ``Spool`` over one port. A worker that died is opened again by the next call.

    Args:
        port: To the storage worker.
        wasm: URL of sqlite3.wasm.
        directory: Folder of this site in the browser's private file system.
    """

    def __init__(self, port: Port, *, wasm: str, directory: str) -> None:
        self._port = port
        self._open = {"type": "open", "wasm": wasm, "directory": directory}
        self.persistent = False
        self.notice = ""
        #: Awaited when a worker that had died is open again: what was in memory is gone, the schema with it.
        self.after_reopening: Callable[[], Awaitable[None]] | None = None

    async def open(self) -> None:
        """Opens the database.

        Raises:
            StorageError: ``busy`` (another tab holds it), ``damaged``, ``full``, ``unavailable``.
        """
        answer = await self._request(self._open)
        self.persistent = bool(answer["persistent"])
        self.notice = str(answer["notice"])

    async def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        rows: list[Row] = await self._call({"type": "execute", "sql": sql, "params": list(params)})
        return rows

    async def transaction(self, statements: Sequence[Statement]) -> None:
        await self._call({"type": "transaction", "statements": [[sql, list(params)] for sql, params in statements]})

    async def empty_log(self) -> None:
        await self.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the file is held exclusively: nobody can be in the way

    async def forget_set_aside(self, containing: str | None) -> int:
        return int(await self._call({"type": "forget_set_aside", "containing": containing}))

    async def write(self, key: str, data: bytes) -> None:
        await self._call({"type": "spool_write", "key": key}, data)

    async def append(self, key: str, data: bytes) -> None:
        await self._call({"type": "spool_append", "key": key}, data)

    async def read(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        data: bytes = await self._call({"type": "spool_read", "key": key, "start": start, "end": end})
        return data

    async def size(self, key: str) -> int:
        return int(await self._call({"type": "spool_size", "key": key}))

    async def delete(self, prefix: str) -> int:
        return int(await self._call({"type": "spool_delete", "prefix": prefix}))

    async def close(self) -> None:
        await self._request({"type": "close"})

    async def _call(self, message: dict[str, Any], body: bytes | None = None) -> Any:
        """Sends a request; a worker that was spawned afresh in between says ``not_open`` and is opened first."""
        try:
            return await self._request(message, body)
        except StorageError as error:
            if error.code != "not_open":
                raise
        was_persistent = self.persistent
        await self.open()
        if was_persistent and not self.persistent:
            raise StorageError(
                "The browser took the site's storage away while the page was open.",
                hint="Reload the page.",
                code="unavailable",
            )
        if self.after_reopening is not None:
            await self.after_reopening()
        return await self._request(message, body)

    async def _request(self, message: dict[str, Any], body: bytes | None = None) -> Any:
        try:
            return await self._port.request(message, body)
        except AgentError as error:
            if error.code == "no_such_key":
                raise KeyError(message["key"]) from None
            raise StorageError(error.message, hint=error.hint, code=error.code) from error
