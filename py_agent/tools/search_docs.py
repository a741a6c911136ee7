"""``search_docs``: the model's way into the index."""

from __future__ import annotations

from pydantic import Field

from py_agent.model.tool import Tool, ToolArgs, ToolResult
from py_agent.prompt.wording import wording
from py_agent.search.base import Searcher
from py_agent.tools.listing import list_passages

NAME = "search_docs"


class SearchArgs(ToolArgs):
    """Arguments of ``search_docs``."""

    query: str = Field(min_length=1, description="What to look for, in the words of the documentation.")


def search_docs(search: Searcher, top: int) -> Tool:
    """The tool, over ``search``, bringing at most ``top`` passages."""

    async def handler(args: SearchArgs, _context: object) -> ToolResult:
        result = await search.search(args.query, top)
        passages = [hit.passage for hit in result.hits]
        intro = wording(
            "search_result",
            query=" ".join(args.query.split()),
            count=len(passages),
            missing=result.missing,
            repaired=sorted(result.repaired.items()),
        )
        text, spans = list_passages(intro, passages)
        ids = tuple(passage.id for passage in passages)
        summary = f"{len(ids)} passages" if len(ids) != 1 else "1 passage"
        return ToolResult(text=text, summary=summary, spans=spans, retrieved=ids)

    return Tool(
        name=NAME,
        description="Searches the documentation. Gives the best passages, each with its id, its headings and its text.",
        brief="Searches the documentation.",
        args=SearchArgs,
        handler=handler,
        pure=True,
    )
