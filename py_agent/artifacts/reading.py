"""What all readers have in common: a call id, a cursor, a cap, and errors that a model can act on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from pydantic import Field

from py_agent.artifacts.fitting import listing
from py_agent.artifacts.shelf import Shelf
from py_agent.artifacts.spooled import NoSuchPlace, SpooledArtifact
from py_agent.model.base import Record
from py_agent.model.errors import StorageError
from py_agent.model.tool import UNDECLARED, ResultKind, Tool, ToolArgs, ToolError, ToolResult
from py_agent.prompt.envelopes import break_tokens
from py_agent.prompt.wording import wording

#: Kinds that are read as lines, which is all of them.
ANY_KIND: frozenset[ResultKind] = frozenset({"text", "json", "markdown"})


class ReaderArgs(ToolArgs):
    """Arguments of every reader."""

    call_id: str = Field(description="Id of the call.")


class CursorArgs(ReaderArgs):
    """Arguments of a reader that shows its result in parts."""

    start: int = Field(default=1, ge=1, description="Where to begin, from 1.")
    # Only a line or an entry that is larger than a read needs it, and then the read before says so.
    offset: int = Field(default=0, ge=0, json_schema_extra={UNDECLARED: True})


#: Reads an artifact; gives what the model sees.
Read = Callable[[Shelf, SpooledArtifact, Any], Awaitable[str]]


class Reader(Record):
    """A reader before it is bound to a shelf.

    Attributes:
        name, description, brief, args: As of its tool.
        read: What it does.
        opens: Which artifacts it reads.
    """

    name: str
    description: str
    brief: str = ""
    args: type[ToolArgs]
    read: Any
    opens: frozenset[ResultKind] = ANY_KIND

    def tool(self, shelf: Shelf) -> Tool:
        """The tool, over a shelf."""

        async def handler(args: Any, _context: Any) -> ToolResult:
            artifact = shelf.artifact(args.call_id, self.name)
            try:
                return ToolResult(text=await self.read(shelf, artifact, args))
            except KeyError as error:
                raise refusal("gone", "no_handle", call=args.call_id) from error
            except NoSuchPlace as error:
                raise refusal("place", "bad_arguments", call=args.call_id, reason=str(error)) from error
            except StorageError as error:
                raise refusal("unreadable", "unreadable", call=args.call_id, reason=str(error)) from error

        return Tool(
            name=self.name,
            description=self.description,
            brief=self.brief,
            args=self.args,
            handler=handler,
            reader=True,
        )


def refusal(problem: str, code: str, **values: Any) -> ToolError:
    """The error that tells the model what is wrong with its call."""
    safe = {name: break_tokens(value) if isinstance(value, str) else value for name, value in values.items()}
    return ToolError(wording("reader_error", problem=problem, **safe), code=code)


async def show_list(
    shelf: Shelf,
    args: CursorArgs,
    reader: str,
    entries: Sequence[Any],
    *,
    render: Callable[[Any], str | Iterable[str]] = str,
    what: str,
    again: str = "",
    stopped: str = "",
) -> str:
    """A list as the model sees it, from the cursor on.

    Args:
        shelf, args: The reader's.
        reader: Its name.
        entries: The whole list.
        render: Makes the text of an entry, or pieces of it.
        what: What an entry is called, in the plural: a key of the template.
        again: Further arguments that the call for the next part needs, as the model writes them.
        stopped: Why the list may be incomplete: a key of the template.

    Raises:
        ToolError: There are entries, but none from the cursor on.
    """
    total = len(entries)
    if args.start > max(total, 1):
        raise refusal("no_record", "bad_arguments", call=args.call_id, total=total)
    part = await listing(
        (render(entries[at]) for at in range(args.start - 1, total)),
        start=args.start,
        offset=args.offset,
        max_tokens=shelf.page_tokens - shelf.count(again),
        count=shelf.count,
        breathe=shelf.breathe,
    )
    return wording(
        "artifact_list",
        call=args.call_id,
        reader=reader,
        what=what,
        again=break_tokens(again),
        stopped=stopped,
        first=part.first,
        last=part.last,
        offset=args.offset,
        total=total,
        next=part.next,
        body=shelf.envelope(part.text, reader) if total else "",
    )
