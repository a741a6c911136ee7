"""Reads a prompt as a model would: the reader's question, what the tools have shown, what is still to be read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from py_agent.model.prompt import Prompt, PromptMessage
from py_agent.prompt.envelopes import open_envelopes, outside_envelopes

_HEADER = re.compile(r"^\[([\w.-]+)\] (.*)$")
_NEXT = re.compile(r"artifact_cat with call_id (\w+), start (\d+)(?:, offset (\d+))?")
_MISSING = re.compile(r"^Words of the query that stand in none of these passages: (.+)$", re.MULTILINE)
_REPAIRED = re.compile(r"^Words read as others: (.+)$", re.MULTILINE)
_GOES_ON = "(goes on)"
#: Between the parts of a heading.
PATH_SEPARATOR = " > "


@dataclass
class SeenPassage:
    """A passage as it stands in the prompt. ``heading`` is its title and headings, outermost first."""

    id: str
    heading: str
    text: str = ""


@dataclass
class Evidence:
    """What the prompt tells.

    Attributes:
        question: The reader's words, from the last message of theirs.
        called: Names of the calls made since then, in order.
        next_read: Call id, line and character of the next read that the harness asks for; None if nothing is left.
        passages: Those whose text was shown, best first.
        missing: Words of the query that no passage holds.
        repaired: Words that the search read as others.
        refused: How often an answer of this turn came back.
    """

    question: str = ""
    called: list[str] = field(default_factory=list)
    next_read: tuple[str, int, int] | None = None
    passages: dict[str, SeenPassage] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    repaired: dict[str, str] = field(default_factory=dict)
    refused: int = 0


def read_prompt(prompt: Prompt) -> Evidence:
    """Everything that the prompt holds about the turn that runs."""
    evidence = Evidence()
    start = 0
    for index, message in enumerate(prompt.messages):
        question = _question(message)
        if question is not None:
            evidence.question, start = question, index
    for message in prompt.messages[start + 1 :]:
        evidence.called += [call.name for call in message.calls]
        if message.role == "tool":
            _tool(message, evidence)
        elif message.role == "user":
            _look_for_read(message.content, evidence)
    return evidence


def _question(message: PromptMessage) -> str | None:
    if message.role != "user":
        return None
    return next((text for kind, text in open_envelopes(message.content) if kind == "reader"), None)


def _tool(message: PromptMessage, evidence: Evidence) -> None:
    _look_for_read(outside_envelopes(message.content), evidence)
    if message.name in ("provide_answer", "say_i_dont_know"):
        evidence.refused += 1
    for kind, text in open_envelopes(message.content):
        if kind in ("search_docs", "read_page", "artifact_cat"):
            _passages(text, evidence)


def _look_for_read(text: str, evidence: Evidence) -> None:
    match = _NEXT.search(text)
    evidence.next_read = (match[1], int(match[2]), int(match[3] or 0)) if match else None


def _passages(text: str, evidence: Evidence) -> None:
    intro: list[str] = []
    current: SeenPassage | None = None
    bodies: dict[str, list[str]] = {}
    for line in text.split("\n"):
        header = _HEADER.match(line)
        if header is not None:
            current = evidence.passages.setdefault(header[1], SeenPassage(header[1], header[2]))
            bodies[current.id] = [current.text] if header[2] == _GOES_ON and current.text else []
        elif current is None:
            intro.append(line)
        else:
            bodies[current.id].append(line)
    for passage_id, lines in bodies.items():
        evidence.passages[passage_id].text = "\n".join(lines).strip("\n")
    found = _MISSING.search("\n".join(intro))
    if found is not None:
        evidence.missing = [word.strip() for word in found[1].split(",")]
    found = _REPAIRED.search("\n".join(intro))
    if found is not None:
        pairs = (pair.strip().partition(" as ") for pair in found[1].split(","))
        evidence.repaired = {typed: meant for typed, _, meant in pairs if meant}
