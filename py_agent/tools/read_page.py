"""``read_page``: the whole page around a passage."""

from __future__ import annotations

from pydantic import Field

from py_agent.model.tool import Tool, ToolArgs, ToolResult
from py_agent.prompt.wording import wording
from py_agent.search.base import Searcher
from py_agent.tools.listing import list_passages
from py_agent.tools.places import page_named

NAME = "read_page"


class ReadPageArgs(ToolArgs):
    """Arguments of ``read_page``."""

    passage: str = Field(description="Id of any passage of the page, as a search gave it, or the page's path.")


def read_page(search: Searcher) -> Tool:
    """The tool, over ``search``."""

    async def handler(args: ReadPageArgs, _context: object) -> ToolResult:
        try:
            page = (await search.passage(args.passage)).page
        except KeyError:
            page = await page_named(search, args.passage)
        passages = await search.page(page)
        text, spans = list_passages(wording("page_result", page=page, count=len(passages)), passages)
        ids = tuple(passage.id for passage in passages)
        return ToolResult(text=text, summary=f"a page of {len(ids)} passages", spans=spans, retrieved=ids)

    return Tool(
        name=NAME,
        description="Reads the whole page that a passage stands on, when the passage alone does not answer.",
        brief="Reads the whole page of a passage.",
        args=ReadPageArgs,
        handler=handler,
        pure=True,
    )
