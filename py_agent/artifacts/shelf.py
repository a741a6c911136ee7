"""The artifacts of one turn: a result goes in, and what the model sees of it comes out, whole or as a handle."""

from __future__ import annotations

from py_agent.artifacts.ledger import Ledger
from py_agent.artifacts.spooled import SpooledArtifact
from py_agent.model.base import Record
from py_agent.model.tool import ToolResult
from py_agent.prompt.envelopes import NonceMaker, envelope
from py_agent.prompt.tokens import TokenCounter
from py_agent.prompt.wording import wording
from py_agent.storage.base import Spool


class Shown(Record):
    """What the model sees of a result, and where the rest lies (None: it sees all)."""

    text: str
    spool_key: str | None = None


class Shelf:
    """Keeps the large results of one turn aside.

    Args:
        spool: Where they go.
        prefix: What their keys start with; unique to the turn, so that the turn can be swept.
        count: Counts tokens.
        nonce: Makes the nonce of an envelope.
        inline_tokens: A result of at most this many tokens is shown whole and counts as read.
        reader_tokens: What one read shows at most.
    """

    def __init__(
        self,
        spool: Spool,
        prefix: str,
        *,
        count: TokenCounter,
        nonce: NonceMaker,
        inline_tokens: int,
        reader_tokens: int,
    ) -> None:
        self.ledger = Ledger()
        self._spool = spool
        self._prefix = prefix
        self._count = count
        self._nonce = nonce
        self._inline_tokens = inline_tokens
        self._reader_tokens = reader_tokens
        self._artifacts: dict[str, SpooledArtifact] = {}
        self._by_text: dict[int, SpooledArtifact] = {}

    async def take(self, call_id: str, tool: str, result: ToolResult) -> Shown:
        """Takes a tool's result; small ones are shown inline, large ones become a handle.

        Raises:
            StorageError: The spool refused.
        """
        self.ledger.add_retrieved(result.retrieved)
        tokens = self._count(result.text)
        if tokens <= self._inline_tokens:
            self.ledger.add_shown(result.spans)
            return Shown(text=envelope(result.text, kind=tool, nonce=self._nonce()))
        # The same text again is the same artifact: to have read it once is enough.
        artifact = self._by_text.get(hash(result.text))
        if artifact is None:
            artifact = await SpooledArtifact.write(self._spool, f"{self._prefix}{call_id}", result.text, result.spans)
            self._by_text[hash(result.text)] = artifact
        self._artifacts[call_id] = artifact
        text = wording("handle", call=call_id, summary=result.summary, lines=artifact.lines, tokens=tokens)
        return Shown(text=text, spool_key=artifact.key)

    @property
    def handles(self) -> tuple[str, ...]:
        """Ids of the calls whose results lie on the shelf."""
        return tuple(self._artifacts)

    @property
    def unread(self) -> tuple[str, ...]:
        """Ids of the calls whose results nobody has opened yet."""
        return tuple(call for call, artifact in self._artifacts.items() if not artifact.opened)

    def lines(self, call_id: str) -> int:
        """Lines of an artifact.

        Raises:
            KeyError: There is no such artifact.
        """
        return self._artifacts[call_id].lines

    async def read(self, call_id: str, start: int) -> str:
        """A page of an artifact as the model sees it; from then on its passages count as shown.

        Args:
            call_id: One of ``handles``.
            start: A line number, counted from 1.

        Raises:
            KeyError: There is no such artifact, or the spool has lost it.
            StorageError: The spool refused.
        """
        artifact = self._artifacts[call_id]
        page = await artifact.page(start - 1, max_tokens=self._reader_tokens, count=self._count)
        artifact.opened = True
        self.ledger.add_shown(page.spans)
        header = f"[{page.continues}] (goes on)\n" if page.continues else ""
        return wording(
            "artifact_page",
            call=call_id,
            first=page.start + 1,
            last=page.end,
            total=page.total,
            body=envelope(header + page.text, kind="artifact_cat", nonce=self._nonce()),
        )
