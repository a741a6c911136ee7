"""The calls in a text that is known to be one: between call markers, or in a fence that is for calls."""

from __future__ import annotations

import re

from py_agent.model.prompt import CallSpec
from py_agent.prompt.parsers.bad import BadCall
from py_agent.prompt.parsers.known import KnownTools
from py_agent.prompt.parsers.native import parse_arguments

__all__ = ["BadCall", "parse_call", "parse_calls"]

_HEAD = re.compile(r"\s*(?:call:)?\s*([\w.:-]+)\s*([{(])")
#: A name in a reason, which the model reads: of a name that it made up, so much.
_NAME_CHARS = 60


def parse_call(body: str, tools: KnownTools | None = None, *, closed: bool = False) -> CallSpec:
    """The one call in ``body``; see ``parse_calls``.

    Raises:
        BadCall: ``body`` is not one complete call.
    """
    found = parse_calls(body, tools, closed=closed)
    if len(found) != 1:
        raise BadCall("there is more than one call")
    if isinstance(found[0], BadCall):
        raise found[0]
    return found[0]


def parse_calls(body: str, tools: KnownTools | None = None, *, closed: bool = False) -> list[CallSpec | BadCall]:
    """The calls in ``body``, in whatever form it has; one that cannot run is a ``BadCall`` with the reason.

    A doubled or namespaced name (``docs:search_docs:search_docs``) is read as its last part.

    Args:
        body: The text between the markers.
        tools: What is known of the tools; a name that is not known is kept as it is, for the executor to refuse.
        closed: An end marker followed; then brackets that are still open count as closed.

    Raises:
        BadCall: ``body`` is no call at all, or not complete.
    """
    tools = tools or KnownTools()
    text = body.strip()
    if text.startswith("{"):
        from py_agent.prompt.parsers.json_call import parse_json_call

        return [parse_json_call(text, tools, closed=closed)]
    if text.startswith("["):
        return _listed(text, tools, closed=closed)
    head = _HEAD.match(text)
    if head is None:
        from py_agent.prompt.parsers.pythonic import parse_program

        try:
            return parse_program(text, tools)
        except BadCall as bad:
            name = _mentioned(text, tools)
            raise BadCall(f"{name}: {bad}" if name else "a call looks like call:NAME{key:value}", name) from bad
    name = tools.resolve(head[1])[:_NAME_CHARS]
    try:
        if head[2] == "{":
            arguments = parse_arguments(text[head.end() - 1 :], closed=closed)
            return [CallSpec(name=tools.resolve(head[1]), arguments=arguments)]
        from py_agent.prompt.parsers.pythonic import parse_program

        # Python has no colon in a name.
        start = head[1].rsplit(":", 1)[-1] or name
        return parse_program(start + text[head.end(1) :], tools)
    except BadCall as bad:
        if bad.name:
            raise
        if name == "print":
            name = _mentioned(text, tools)
        if not name:
            raise
        raise BadCall(f"{name}: {bad}", name) from bad


def _mentioned(text: str, tools: KnownTools) -> str:
    """The first known tool that ``text`` calls, whatever is around it."""
    names = (tools.resolve(match[1]) for match in re.finditer(r"([\w.]{1,80})\s*\(", text))
    return next((name for name in names if name in tools), "")


def _listed(text: str, tools: KnownTools, *, closed: bool) -> list[CallSpec | BadCall]:
    """A list of JSON objects, or of Python calls."""
    from py_agent.prompt.parsers.json_call import call_of, load
    from py_agent.prompt.parsers.pythonic import parse_program

    if not text[1:].lstrip().startswith("{"):
        return parse_program(text, tools)
    found: list[CallSpec | BadCall] = []
    for value in load(text, closed=closed):
        try:
            found.append(call_of(value if isinstance(value, dict) else {}, tools))
        except BadCall as bad:
            found.append(bad)
    return found
