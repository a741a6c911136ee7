"""The forged readers: tools that open what a handle stands for.

Their declarations are fixed for the turn, so that the prompt's prefix stays. Forging binds a call id: until an artifact
of a reader's kind lies on the shelf, the executor's allow-list keeps the reader shut.
"""

from __future__ import annotations

from collections.abc import Collection

from py_agent.artifacts import json_readers, markdown_readers, text_readers
from py_agent.artifacts.reading import Reader
from py_agent.artifacts.shelf import Shelf
from py_agent.model.tool import ResultKind, Tool

#: All readers, in the order in which they are declared: what shows content first, what only measures last.
ALL: tuple[Reader, ...] = (
    *text_readers.CONTENT,
    *json_readers.CONTENT,
    *json_readers.MEASURES,
    *markdown_readers.CONTENT,
    *text_readers.MEASURES,
)

#: Names of those that only measure: a turn may leave them to its catalogue.
MEASURES = frozenset(reader.name for reader in (*json_readers.MEASURES, *text_readers.MEASURES))

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
    chosen = [reader for reader in ALL if reader.opens & {"text", *kinds} and (names is None or reader.name in names)]
    # In a handle the readers that know the kind come first; the ones of any kind follow.
    order = sorted(chosen, key=lambda reader: len(reader.opens))
    shelf.declare((reader.name, reader.opens) for reader in order)
    return tuple(reader.tool(shelf) for reader in chosen)
