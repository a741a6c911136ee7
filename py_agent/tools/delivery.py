"""The two tools that end a turn: an answer with its sources, or the plain word that the docs do not have one."""

from __future__ import annotations

from pydantic import Field

from py_agent.model.tool import Tool, ToolArgs, ToolResult

ANSWER = "provide_answer"
DONT_KNOW = "say_i_dont_know"

#: Sources of one answer at most: a reader checks one or two; more would hide which one matters.
MAX_SOURCES = 3


class SourceArgs(ToolArgs):
    """One source of an answer."""

    passage: str = Field(description="Id of a passage that you have read in this turn.")
    quote: str = Field(description="The words of that passage that support the answer, copied exactly.")


class AnswerArgs(ToolArgs):
    """Arguments of ``provide_answer``."""

    answer: str = Field(min_length=1, description="The answer for the reader, in Markdown, without links.")
    sources: tuple[SourceArgs, ...] = Field(min_length=1, max_length=MAX_SOURCES, description="The best first.")


class DontKnowArgs(ToolArgs):
    """Arguments of ``say_i_dont_know``."""

    reason: str = Field(description="What the documentation lacks, in one short sentence.")


async def _judged(_args: ToolArgs, _context: object) -> ToolResult:
    # Never run by the executor: a terminal call becomes a proposal, which the gates and the terminator settle.
    raise AssertionError("a terminal call was executed")


def provide_answer() -> Tool:
    """The tool that delivers an answer; ``gates/verified_citation.py`` judges it."""
    return Tool(
        name=ANSWER,
        description="Delivers the answer. Every answer from the documentation ends with this call.",
        brief="Delivers the answer with its sources: passage ids and exact quotes.",
        args=AnswerArgs,
        handler=_judged,
        terminal=True,
    )


def say_i_dont_know() -> Tool:
    """The tool that ends a turn without an answer."""
    return Tool(
        name=DONT_KNOW,
        description="Says that the documentation does not answer this. Call it only after searching and reading.",
        brief="Says that the documentation has no answer.",
        args=DontKnowArgs,
        handler=_judged,
        terminal=True,
    )
