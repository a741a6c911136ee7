"""The engine without a model: it searches, reads and answers by quoting.

It sees what a model sees, the prompt and nothing else, and writes what a model writes, Gemma-4 text in pieces: the same
prompts, parser, gates and tools run behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from py_agent.engines.base import EngineInfo, Progress
from py_agent.engines.evidence import PATH_SEPARATOR, Evidence, SeenPassage, read_prompt
from py_agent.engines.markdown import compose
from py_agent.engines.quoting import Quote, best_quote
from py_agent.engines.weighing import Weights, lacking, rank
from py_agent.model.errors import EngineError
from py_agent.model.prompt import CallSpec, Chunk, GenerateOptions, Prompt
from py_agent.prompt.dialects import gemma4

#: There is no model whose attention could run out; the bound keeps a runaway turn from filling the memory.
WINDOW = 32_768
#: Characters of one chunk: about a dozen tokens, so that an answer streams visibly and is still quick.
CHUNK_CHARS = 48
#: Reads of one turn at most. Five passages of the longest kind take five.
MAX_READS = 6
#: Characters of the question that become the query.
MAX_QUERY_CHARS = 300
#: Sources of one answer at most.
MAX_SOURCES = 3
#: A passage that scores less than this share of the best one would only distract.
MIN_SHARE_OF_BEST = 0.4
#: Characters of a quote at least: a bare sign or word proves nothing.
MIN_QUOTE_CHARS = 12
#: Times that a refused answer is tried again before it gives up.
MAX_REFUSALS = 2


class ExtractiveEngine:
    """Answers by quoting the best passages."""

    def __init__(self) -> None:
        self._cancelled = False
        self._busy = False

    async def open(self, progress: Progress | None = None) -> None:
        """Nothing to load."""

    async def generate(self, prompt: Prompt, options: GenerateOptions) -> AsyncIterator[Chunk]:
        """Streams the next step of the turn.

        Raises:
            EngineError: ``refused`` while another stream runs.
        """
        if self._busy:
            raise EngineError("The engine is generating already.", hint="Wait for its end.", code="refused")
        self._busy, self._cancelled = True, False
        try:
            text = await _step(prompt)
            for at in range(0, len(text), CHUNK_CHARS):
                await asyncio.sleep(0)
                if self._cancelled:
                    yield Chunk(kind="end", reason="cancelled")
                    return
                yield Chunk(kind="text", text=text[at : at + CHUNK_CHARS])
            yield Chunk(kind="end", reason="stop")
        finally:
            self._busy = False

    async def cancel(self) -> None:
        """Ends the stream that runs."""
        self._cancelled = True

    async def count_tokens(self, text: str) -> int | None:
        """None: it has no tokenizer."""
        return None

    def info(self) -> EngineInfo:
        """What the engine is: no model."""
        return EngineInfo(name="extractive", model=None, window=WINDOW)

    async def close(self) -> None:
        """Nothing to free."""


async def _step(prompt: Prompt) -> str:
    names = {tool.name for tool in prompt.tools}
    if "make_plan" in names:
        return _plan(prompt)
    evidence = read_prompt(prompt)
    if "search_docs" not in evidence.called:
        query = " ".join(evidence.question.split())[:MAX_QUERY_CHARS]
        return gemma4.render_call(CallSpec(name="search_docs", arguments={"query": query or "?"}))
    if evidence.next_read is not None and evidence.called.count("artifact_cat") < MAX_READS:
        call_id, start, offset = evidence.next_read
        arguments = {"call_id": call_id, "start": start, **({"offset": offset} if offset else {})}
        return gemma4.render_call(CallSpec(name="artifact_cat", arguments=arguments))
    return gemma4.render_call(await _end(evidence))


def _plan(prompt: Prompt) -> str:
    tool = next(tool for tool in prompt.tools if tool.name == "make_plan")
    known = tool.parameters.get("properties", {}).get("tools_to_use", {}).get("items", {}).get("enum", [])
    wanted = [name for name in ("search_docs", "provide_answer") if name in known]
    thought = f"{gemma4.CHANNEL}thought\nThis wants passages: search, read, quote.\n{gemma4.CHANNEL_END}"
    arguments = {"answer_kind": "doc_cited", "tools_to_use": wanted, "answer_scope": "brief"}
    return thought + gemma4.render_call(CallSpec(name="make_plan", arguments=arguments))


async def _end(evidence: Evidence) -> CallSpec:
    if not evidence.passages or evidence.refused > MAX_REFUSALS:
        return _dont_know([])
    weights = await Weights.weigh(evidence)
    absent = lacking(evidence, weights)
    if absent:
        return _dont_know(absent)
    # A refused answer comes back with one source less: the last one is the weakest.
    quotes = await _quotes(rank(evidence, weights), weights, MAX_SOURCES - evidence.refused)
    if not quotes:
        return _dont_know([])
    sources = [{"passage": quote.passage.id, "quote": quote.text} for quote in quotes]
    return CallSpec(name="provide_answer", arguments={"answer": compose(quotes), "sources": sources})


async def _quotes(ranked: list[tuple[float, SeenPassage]], weights: Weights, most: int) -> list[Quote]:
    """A quote of each passage worth one: nothing far behind the best, nothing said twice, other pages first.

    Two passages of one page often say the same; the page behind them may be the one that answers.
    """
    quotes: list[Quote] = []
    for score, passage in _pages_first(ranked):
        if len(quotes) == most:
            break
        if quotes and score < MIN_SHARE_OF_BEST * ranked[0][0]:
            continue
        await asyncio.sleep(0)
        quote = best_quote(passage, weights)
        if quote is None or len(quote.text) < MIN_QUOTE_CHARS:
            continue
        if all(" ".join(quote.text.split()) != " ".join(other.text.split()) for other in quotes):
            quotes.append(quote)
    return quotes


def _pages_first(ranked: list[tuple[float, SeenPassage]]) -> list[tuple[float, SeenPassage]]:
    """The best passage of each page, then the others; a page is known by its title."""
    best: dict[str, tuple[float, SeenPassage]] = {}
    for item in ranked:
        best.setdefault(item[1].heading.split(PATH_SEPARATOR)[0], item)
    return [*best.values(), *(item for item in ranked if item not in best.values())]


def _dont_know(absent: list[str]) -> CallSpec:
    listed = ", ".join(absent[:5])
    reason = f"The passages found say nothing about: {listed}." if listed else "No passage found fits the question."
    return CallSpec(name="say_i_dont_know", arguments={"reason": reason})
