"""The artifacts of one turn: a result goes in, and what the model sees of it comes out, whole or as a handle."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING

from py_agent.artifacts.fitting import CHARS_PER_TOKEN_MOST, FRAME_TOKENS, Breathe
from py_agent.artifacts.ledger import Ledger
from py_agent.artifacts.spooled import Page, SpooledArtifact
from py_agent.artifacts.writing import TextWriter, whole
from py_agent.model.base import Record
from py_agent.model.errors import StorageError
from py_agent.model.tool import ResultKind, Span, ToolError, ToolResult
from py_agent.prompt.envelopes import NonceMaker, break_tokens, envelope
from py_agent.prompt.tokens import TokenCounter
from py_agent.prompt.wording import wording
from py_agent.storage.base import Spool

if TYPE_CHECKING:
    from py_agent.artifacts.markdown import Outline
    from py_agent.artifacts.parsing import Document

#: Characters of a result's summary that its handle repeats.
MAX_SUMMARY_CHARS = 60

#: Readers that a handle names besides ``artifact_cat``: the first of those that fit it.
NAMED_READERS = 1


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
        reader_tokens: What one read shows at most, all that is around it included.
        breathe: Awaited in every loop over much data.
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
        breathe: Breathe,
    ) -> None:
        self.ledger = Ledger()
        self.breathe = breathe
        #: What the body of a read may have, in tokens as ``count`` tells them.
        self.page_tokens = max(reader_tokens - FRAME_TOKENS, 1)
        self._spool = spool
        self._prefix = prefix
        self._count = count
        self._nonce = nonce
        self._inline_tokens = inline_tokens
        self._artifacts: dict[str, SpooledArtifact] = {}
        self._by_text: dict[bytes, SpooledArtifact] = {}
        self._readers: dict[str, frozenset[ResultKind]] = {}
        # What was worked out of the artifact that was read last; a megabyte of JSON takes ten when it is parsed.
        self._document: tuple[SpooledArtifact, Document] | None = None
        self._outline: tuple[SpooledArtifact, Outline] | None = None

    def declare(self, readers: Iterable[tuple[str, frozenset[ResultKind]]]) -> None:
        """Says which readers the turn has, by name, content readers first, and which kinds of artifact each reads."""
        self._readers = dict(readers)

    @property
    def open_readers(self) -> frozenset[str]:
        """The readers that fit an artifact on the shelf: those that a dispatch may call."""
        return frozenset(name for artifact in self._artifacts.values() for name in self._fitting(artifact))

    async def take(self, call_id: str, tool: str, result: ToolResult) -> Shown:
        """Takes a tool's result; small ones are shown inline, large ones become a handle.

        Raises:
            StorageError: The spool refused; nothing of the result counts as brought or shown.
            ToolError: What a stream raised.
        """
        text, rest = await _head(result, self._inline_tokens * CHARS_PER_TOKEN_MOST * 2)
        if rest is None and self._is_small(text):
            self.ledger.add_retrieved(result.retrieved)
            self.ledger.add_shown(result.spans)
            return Shown(text=envelope(text, kind=tool, nonce=self._nonce()))
        artifact = await self._keep(f"{self._prefix}{call_id}", text, rest, result)
        self.ledger.add_retrieved(result.retrieved)
        self._artifacts[call_id] = artifact
        return Shown(text=self._handle(call_id, artifact, result.summary), spool_key=artifact.key)

    @property
    def artifacts(self) -> tuple[SpooledArtifact, ...]:
        """What lies in the spool, each once."""
        return tuple({artifact.key: artifact for artifact in self._artifacts.values()}.values())

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
            NoSuchPlace: It has no such line.
            StorageError: The spool refused.
        """
        artifact = self._artifacts[call_id]
        return self.show_page(call_id, await self.page(artifact, start - 1), "artifact_cat")

    def artifact(self, call_id: str, reader: str) -> SpooledArtifact:
        """What a reader was called for.

        Raises:
            ToolError: There is no such artifact, or the reader does not fit it; the text names what does.
        """
        artifact = self._artifacts.get(call_id)
        if artifact is None:
            known = ", ".join(self._artifacts)
            message = wording("reader_error", problem="no_handle", call=call_id[:60], known=known)
            raise ToolError(message, code="no_handle")
        if artifact.kind not in self._readers.get(reader, frozenset()):
            fitting = ", ".join(self._fitting(artifact))
            message = wording(
                "reader_error", problem="other_kind", call=call_id, kind=artifact.kind, reader=reader, fitting=fitting
            )
            raise ToolError(message, code="other_kind")
        return artifact

    async def document(self, call_id: str, artifact: SpooledArtifact) -> Document:
        """An artifact, parsed as JSON.

        Raises:
            ToolError: It is too large, or no JSON.
            KeyError, StorageError: As ``SpooledArtifact.whole``.
        """
        from py_agent.artifacts.parsing import JSON_PARSE_LIMIT, NotJson, parse

        if self._document is not None and self._document[0] is artifact:
            return self._document[1]
        self._refuse_large(call_id, artifact, JSON_PARSE_LIMIT)
        self._document = None
        try:
            document = await parse(await artifact.whole(), self.breathe)
        except NotJson as error:
            message = wording("reader_error", problem="not_json", call=call_id, reason=str(error))
            raise ToolError(message, code="not_json") from None
        self._document = artifact, document
        return document

    async def outline(self, call_id: str, artifact: SpooledArtifact) -> Outline:
        """The parts of an artifact, read as Markdown.

        Raises:
            ToolError: It is too large.
            KeyError, StorageError: As ``SpooledArtifact.pieces``.
        """
        from py_agent.artifacts.markdown import MARKDOWN_LIMIT, outline

        if self._outline is not None and self._outline[0] is artifact:
            return self._outline[1]
        self._refuse_large(call_id, artifact, MARKDOWN_LIMIT)
        self._outline = artifact, await outline(artifact.lines_from(), self.breathe)
        return self._outline[1]

    async def page(self, artifact: SpooledArtifact, line: int = 0, column: int = 0, end: int | None = None) -> Page:
        """A page that ``show_page`` can show within the cap.

        Raises:
            NoSuchPlace, KeyError, StorageError: As ``SpooledArtifact.page``.
        """
        header = self.count(_goes_on(artifact.begun_before(line, column)))
        return await artifact.page(
            line, column, max_tokens=max(self.page_tokens - header, 1), count=self.count, end=end
        )

    def show_page(self, call_id: str, page: Page, reader: str, end: int | None = None) -> str:
        """A page as the model sees it; its passages count as shown.

        Args:
            call_id: Whose page it is.
            page: The page.
            reader: Which reader shows it.
            end: The line before which the part ends that the reader shows; None: the artifact's end.
        """
        artifact = self._artifacts[call_id]
        artifact.opened = True
        self.ledger.add_shown(page.spans)
        header = _goes_on(page.continues)
        total = artifact.lines
        return wording(
            "artifact_page",
            call=call_id,
            first=page.line + 1,
            column=page.column,
            last=page.last + 1,
            total=total,
            more=(end or total) - page.next[0] if page.next else 0,
            next=page.next,
            part=end is not None,
            body=self.envelope(header + page.text.removesuffix("\n"), reader),
        )

    def show(self, call_id: str, spans: Iterable[Span] = ()) -> None:
        """Says that a reader has shown content of an artifact, and which lines of passages."""
        self._artifacts[call_id].opened = True
        self.ledger.add_shown(spans)

    def envelope(self, text: str, reader: str) -> str:
        """``text`` as data in the answer of a reader."""
        return envelope(text, kind=reader, nonce=self._nonce())

    def count(self, text: str) -> int:
        """Tokens of ``text`` as it stands in a prompt, where its control tokens are broken."""
        return self._count(break_tokens(text))

    def _is_small(self, text: str) -> bool:
        most = self._inline_tokens * CHARS_PER_TOKEN_MOST * 2
        return len(text) <= most and self._count(text) <= self._inline_tokens

    async def _keep(self, key: str, text: str, rest: AsyncIterator[str] | None, result: ToolResult) -> SpooledArtifact:
        kinds = set().union(*self._readers.values()) if self._readers else {result.kind}
        kind: ResultKind = result.kind if result.kind in kinds else "text"
        if rest is None:
            # The same text again is the same artifact: to have read it once is enough.
            digest = hashlib.sha256(f"{kind}\n{text}".encode()).digest()
            artifact = self._by_text.get(digest)
            if artifact is None:
                artifact = await SpooledArtifact.write(
                    self._spool, key, text, result.spans, kind=kind, breathe=self.breathe
                )
                self._by_text[digest] = artifact
            return artifact
        writer = TextWriter(self._spool, key, self.breathe)
        try:
            await writer.add(text)
            async for piece in rest:
                await writer.add(piece)
            await writer.close()
        except StorageError:
            raise
        except Exception:
            await writer.discard()  # the tool failed in the middle of its result
            raise
        return SpooledArtifact.of(self._spool, writer, kind, result.spans)

    def _handle(self, call_id: str, artifact: SpooledArtifact, summary: str) -> str:
        fitting = self._fitting(artifact)
        summary = " ".join(break_tokens(summary[:MAX_SUMMARY_CHARS]).split())
        return wording(
            "handle",
            call=call_id,
            summary=summary,
            lines=_short(artifact.lines),
            size=_short(artifact.size),
            others=[name for name in fitting if name != "artifact_cat"][:NAMED_READERS],
            first=bool(fitting) and fitting[0] != "artifact_cat",
        )

    def _fitting(self, artifact: SpooledArtifact) -> list[str]:
        return [name for name, kinds in self._readers.items() if artifact.kind in kinds]

    def _refuse_large(self, call_id: str, artifact: SpooledArtifact, limit: int) -> None:
        if artifact.size > limit:
            message = wording(
                "reader_error", problem="too_large", call=call_id, size=_short(artifact.size), limit=_short(limit)
            )
            raise ToolError(message, code="too_large")


async def _head(result: ToolResult, chars: int) -> tuple[str, AsyncIterator[str] | None]:
    """The text of a result, or of one that streams its first ``chars`` characters or more, and the rest of it."""
    if result.stream is None:
        return whole(result.text), None
    head = result.text
    async for piece in result.stream:
        head += piece
        if len(head) > chars:
            return head, result.stream
    return whole(head), None


def _goes_on(passage: str | None) -> str:
    """The line that says whose text a page begins inside of."""
    return f"[{passage}] (goes on)\n" if passage else ""


def _short(number: int) -> str:
    """A number in few tokens: ``999``, ``12k``, ``100M``."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            return f"{number // size}{unit}"
    return str(number)
