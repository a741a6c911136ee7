"""``list_pages``: what there is to read, in bounded pieces."""

from __future__ import annotations

from pydantic import Field

from py_agent.model.tool import Tool, ToolArgs, ToolResult
from py_agent.prompt.wording import wording
from py_agent.search.base import Searcher

NAME = "list_pages"

#: Pages that one call lists: about 400 tokens of titles and paths.
PAGES_PER_LIST = 25


class ListPagesArgs(ToolArgs):
    """Arguments of ``list_pages``."""

    contains: str = Field(default="", description="Only pages whose title or path contains this.")
    start: int = Field(default=1, ge=1, description="First page to list, counted from 1.")


def list_pages(search: Searcher) -> Tool:
    """The tool, over ``search``."""

    async def handler(args: ListPagesArgs, _context: object) -> ToolResult:
        wanted = args.contains.casefold()
        pages = [page for page in await search.pages() if wanted in f"{page.title} {page.page}".casefold()]
        part = pages[args.start - 1 : args.start - 1 + PAGES_PER_LIST]
        text = wording(
            "pages_result",
            contains=" ".join(args.contains.split()),
            start=args.start,
            pages=part,
            total=len(pages),
        )
        return ToolResult(text=text, summary=f"{len(part)} pages")

    return Tool(
        name=NAME,
        description="Lists the pages of the documentation, title and path, a part at a time.",
        args=ListPagesArgs,
        handler=handler,
        pure=True,
    )
