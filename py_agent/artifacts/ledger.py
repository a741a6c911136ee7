"""What a turn has retrieved and what it has shown: only a passage that was shown may be cited."""

from __future__ import annotations

from collections.abc import Iterable

from py_agent.model.tool import Span


class Ledger:
    """The passages of one turn, by id."""

    def __init__(self) -> None:
        self._retrieved: dict[str, None] = {}
        self._shown: dict[str, None] = {}

    def add_retrieved(self, passages: Iterable[str]) -> None:
        """A search brought these, best first."""
        self._retrieved.update(dict.fromkeys(passages))

    def add_shown(self, spans: Iterable[Span]) -> None:
        """Lines of these passages stand in the prompt now. A span without lines shows nothing."""
        self._shown.update(dict.fromkeys(span.passage for span in spans if span.end > span.start))

    def add_whole(self, passages: Iterable[str]) -> None:
        """These stand in the prompt as a whole: they were fetched before the model asked."""
        self._shown.update(dict.fromkeys(passages))

    @property
    def retrieved(self) -> tuple[str, ...]:
        """Every passage that a tool of this turn brought, in the order in which they came."""
        return tuple(self._retrieved)

    @property
    def shown(self) -> tuple[str, ...]:
        """Every passage of which the model saw text this turn."""
        return tuple(self._shown)

    def was_shown(self, passage: str) -> bool:
        """Whether the model saw text of this passage this turn."""
        return passage in self._shown
