"""The door of the executor: what may be called, with which arguments, and what the reader is asked first."""

from __future__ import annotations

import re
import unicodedata

from py_agent.model.gate import GateRequest
from py_agent.model.prompt import CallSpec
from py_agent.model.tool import Tool, ToolArgs, ToolError
from py_agent.prompt.wording import wording
from py_agent.runner.contexts import DispatchContext
from py_agent.search.stopwords import STOP_WORDS

#: The tool whose calls stand for calls of the catalogue.
CALL_A_TOOL = "call_a_tool"

#: Likeness of two names, 0 to 100, from which on one is suggested for the other: one slip in ten letters.
LIKE_NAME = 75

#: Characters of a name that a model made up which an error repeats.
MAX_NAME_CHARS = 60

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?;\n](?:\s|$)|\n")

#: Words that turn a sentence into its opposite. Most are stop words, and never may be dropped here.
NEGATIONS = frozenset(
    "no not nor neither never without cannot don doesn didn isn aren wasn weren won wouldn shouldn couldn haven hasn"
    " hadn mustn nobody nothing none nicht kein keine keinen nie niemals ohne pas jamais sans sin nunca não nem sem non"
    " mai senza".split()
)


def admit(context: DispatchContext, call: CallSpec) -> tuple[Tool, ToolArgs]:
    """The tool and the validated arguments of a call that may run now.

    Raises:
        ToolError: It may not; the text names only what may be called.
    """
    tool = _allowed(context, call.name, context.allowed)
    args = tool.parse(call.arguments)
    if tool.name != CALL_A_TOOL:
        return tool, args
    inner = CallSpec(name=args.name, arguments=args.arguments)  # type: ignore[attr-defined]
    tool = _allowed(context, inner.name, {tool.name for tool in context.tools.in_catalogue()} & context.allowed)
    return tool, tool.parse(inner.arguments)


def _allowed(context: DispatchContext, name: str, allowed: set[str]) -> Tool:
    tool = context.tools.get(name)
    if tool is not None and tool.name in allowed:
        return tool
    names = [name for name in context.tools.tools if name in allowed]
    raise ToolError(
        f"There is no tool {name[:MAX_NAME_CHARS]!r} here.{_suggestion(name, names)} You can call: {', '.join(names)}.",
        code="not_allowed",
    )


def _suggestion(name: str, names: list[str]) -> str:
    from rapidfuzz import fuzz, process

    best = process.extractOne(name, names, scorer=fuzz.ratio, score_cutoff=LIKE_NAME)
    return f" Did you mean {best[0]}?" if best is not None else ""


async def ask_first(context: DispatchContext, tool: Tool, args: ToolArgs, call_id: str) -> None:
    """Returns when a tool may have its effect: at once where it has none, or where the reader asked for it.

    Raises:
        ToolError: The reader said no, or did not say anything, or cannot be asked: three texts.
    """
    if not tool.effect:
        return
    turn = context.turn
    said = "\n".join([turn.question, *turn.told])
    if tool.words is not None and are_the_readers_own(tool.words(args), said):
        return
    text = tool.asks(args) if tool.asks is not None else wording("reader_approve", tool=tool.name)
    detail = "" if tool.asks is not None else str(args.model_dump(mode="json", exclude_defaults=True))
    request = GateRequest(id=f"{turn.turn}-{call_id}", kind="approve", tool=tool.name, text=text, detail=detail)
    answer = await turn.wait_for(request)
    if answer.approved:
        return
    outcome = "denied" if answer.result == "resolved" else answer.result
    raise ToolError(wording("tool_not_approved", tool=tool.name, outcome=outcome), code=outcome)


def are_the_readers_own(words: str, said: str) -> bool:
    """Whether ``words`` are what the reader said: all that means something, in one sentence, in its order, unturned.

    A page that makes a model repeat the reader's words gains nothing: what they say is what the reader said. Words of
    the reader in another order, or without their "not", may say the opposite: then the reader is asked.
    """
    wanted = _content(words)
    return bool(wanted) and any(_says(_content(sentence), wanted) for sentence in _SENTENCE_END.split(said))


def _says(sentence: list[str], wanted: list[str]) -> bool:
    if [word for word in sentence if word in NEGATIONS] != [word for word in wanted if word in NEGATIONS]:
        return False
    return any(sentence[at : at + len(wanted)] == wanted for at in range(len(sentence) - len(wanted) + 1))


def _content(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in _WORD.findall(folded) if word in NEGATIONS or word not in STOP_WORDS]
