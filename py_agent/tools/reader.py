"""Tools that turn to the reader: a question, and a way to another page."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from py_agent.model.gate import GateRequest
from py_agent.model.tool import Tool, ToolArgs, ToolResult
from py_agent.prompt.wording import wording
from py_agent.runner.events import Navigate
from py_agent.search.base import Searcher
from py_agent.tools.places import place_of

ASK = "ask_reader"
NAVIGATE = "navigate_to_page"

#: Characters of a question to the reader at most: it is read, not studied.
MAX_QUESTION_CHARS = 300

#: Answers that a question may offer.
MAX_CHOICES = 5


class AskArgs(ToolArgs):
    """Arguments of ``ask_reader``."""

    question: str = Field(min_length=1, max_length=MAX_QUESTION_CHARS, description="One short question.")
    choices: tuple[str, ...] = Field(default=(), max_length=MAX_CHOICES, description="Answers to choose from, if any.")


class NavigateArgs(ToolArgs):
    """Arguments of ``navigate_to_page``."""

    page: str = Field(min_length=1, description="Path of a page, or id of a passage on it, as a search gave it.")


def ask_reader() -> Tool:
    """The tool that asks the reader what the docs cannot tell: which version, which system."""

    async def handler(args: AskArgs, context: Any) -> ToolResult:
        turn = context.turn
        turn.stash["questions"] = turn.stash.get("questions", 0) + 1
        request = GateRequest(
            id=f"{turn.turn}-ask{turn.stash['questions']}",
            kind="ask",
            tool=ASK,
            text=" ".join(args.question.split()),
            choices=args.choices,
        )
        answer = await turn.wait_for(request)
        if answer.result != "resolved":
            return ToolResult(text=wording("not_answered", outcome=answer.result))
        turn.told.append(str(answer.value))
        return ToolResult(text=str(answer.value))

    return Tool(
        name=ASK,
        description="Asks the reader something that only the reader knows, such as a version or a system.",
        args=AskArgs,
        handler=handler,
    )


def navigate_to_page(search: Searcher) -> Tool:
    """The tool that opens a page of the docs for the reader, who is asked first."""

    async def handler(args: NavigateArgs, context: Any) -> ToolResult:
        # The path is checked before anybody is asked: a reader cannot tell a page that exists from one that does not.
        url, title = await place_of(search, args.page)
        turn = context.turn
        request = GateRequest(
            id=f"{turn.turn}-navigate",
            kind="approve",
            tool=NAVIGATE,
            text=wording("reader_navigate", title=title),
            detail=url,
        )
        answer = await turn.wait_for(request)
        if answer.approved:
            turn.emit(Navigate(url=url, title=title))
            return ToolResult(text=wording("navigated", title=title, outcome="approved"))
        outcome = "denied" if answer.result == "resolved" else answer.result
        return ToolResult(text=wording("navigated", title=title, outcome=outcome))

    return Tool(
        name=NAVIGATE,
        description="Opens a page of the documentation for the reader, who is asked first.",
        args=NavigateArgs,
        handler=handler,
    )
