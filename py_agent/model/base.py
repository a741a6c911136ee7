"""The base of every value that the rooms hand to each other."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable value with checked types.

    Its validator is built when the first value is made: some forty classes at import cost a reader about 70 ms of the
    boot, and most are not needed before the first question (``DocsAgent.warm_up`` builds them then).
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    @classmethod
    def kinds(cls) -> Iterator[type[Record]]:
        """All classes derived from this one that have been imported."""
        for kind in cls.__subclasses__():
            yield kind
            yield from kind.kinds()
