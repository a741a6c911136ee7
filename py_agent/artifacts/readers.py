"""The forged readers: tools that open what a handle stands for.

Their declarations are fixed for the turn, so that the prompt's prefix stays. Forging binds a call id: until an artifact
of a reader's kind lies on the shelf, the executor's allow-list keeps the reader shut.
"""

from __future__ import annotations

from collections.abc import Collection

from py_agent.artifacts import text_readers
from py_agent.artifacts.reading import Reader
from py_agent.artifacts.shelf import Shelf
from py_agent.model.tool import ResultKind, Tool

#: Names of those that only measure: a turn may leave them to its catalogue.
MEASURES = frozenset(
    {
        "artifact_json_length",
        "artifact_json_type",
        "artifact_byte_length",
        "artifact_line_count",
        "artifact_estimate_tokens",
    }
)

#: Kinds of result of a turn whose tools say nothing else.
TEXT_ONLY: tuple[ResultKind, ...] = ("text",)

#: What a small window has room for.
SMALL = ("artifact_cat", "artifact_grep")


def readers(
    shelf: Shelf, kinds: Collection[ResultKind] = TEXT_ONLY, names: Collection[str] | None = None
) -> tuple[Tool, ...]:
    """The readers of a turn, bound to its shelf, which is told of them.

    Args:
        shelf: The turn's.
        kinds: Kinds of result that the turn's tools may give: a reader of other kinds is not declared.
        names: The only ones to have; None: all that fit.
    """
    chosen = [reader for reader in _fitting(kinds) if names is None or reader.name in names]
    # In a handle the readers that know the kind come first; the ones of any kind follow.
    order = sorted(chosen, key=lambda reader: len(reader.opens))
    shelf.declare((reader.name, reader.opens) for reader in order)
    return tuple(reader.tool(shelf) for reader in chosen)


def _fitting(kinds: Collection[ResultKind]) -> list[Reader]:
    """The readers of these kinds in the order of their declaration: what shows content first, what measures last.

    Few turns have anything but text: what reads the rest is imported when a turn has it.
    """
    chosen = [*text_readers.CONTENT]
    if "json" in kinds:
        from py_agent.artifacts import json_readers

        chosen += [*json_readers.CONTENT, *json_readers.MEASURES]
    if "markdown" in kinds:
        from py_agent.artifacts import markdown_readers

        chosen += markdown_readers.CONTENT
    return [*chosen, *text_readers.MEASURES]
