"""Brings a database file to the schema of this version, and refuses one that a newer version wrote."""

from __future__ import annotations

from collections.abc import Sequence

from py_agent.model.errors import StorageError
from py_agent.storage.base import Connection, Statement
from py_agent.storage.schema import STEPS


async def migrate(connection: Connection, steps: Sequence[Sequence[str]] = STEPS) -> int:
    """Applies the steps that the file lacks, each in one transaction with its version number.

    Returns:
        How many steps were applied.

    Raises:
        StorageError: ``newer`` when the file knows more steps than this code; nothing is written then. Else as
            ``Connection.execute``.
    """
    rows = await connection.execute("PRAGMA user_version")
    version = int(rows[0]["user_version"])
    if version > len(steps):
        raise StorageError(
            f"The stored conversations were written by a newer version of py-agent (format {version}; "
            f"this one knows {len(steps)}), so they are left alone.",
            hint="Reload the page to get the newer version; if it stays, its files are cached or were rolled back.",
            code="newer",
        )
    for number, step in enumerate(steps[version:], start=version + 1):
        statements: list[Statement] = [(sql, ()) for sql in step]
        # In the same transaction: a half-applied step would make the file unreadable for good.
        await connection.transaction([*statements, (f"PRAGMA user_version = {number}", ())])
    return len(steps) - version
