"""Readers of JSON artifacts. A record is an element of a list at the top, a line of JSON Lines, or the one value."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pydantic import Field

from py_agent.artifacts.json_paths import BadPath, Budget, Matches, Path
from py_agent.artifacts.reading import CursorArgs, Reader, ReaderArgs, refusal, show_list
from py_agent.artifacts.shelf import Shelf
from py_agent.artifacts.spooled import SpooledArtifact
from py_agent.model.tool import ResultKind
from py_agent.prompt.wording import wording

#: Records whose keys ``artifact_json_keys`` collects: their number is told, so a model knows if it saw all.
KEYED_RECORDS = 1_000

_JSON: frozenset[ResultKind] = frozenset({"json"})
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "))


class PathArgs(CursorArgs):
    """Arguments of the readers that take a path."""

    path: str = Field(min_length=1, description="A JSONPath: $.items[0].name")


class SliceArgs(CursorArgs):
    """Arguments of ``artifact_json_slice``."""

    end: int | None = Field(default=None, ge=1, description="Last record.")


async def _get(shelf: Shelf, artifact: SpooledArtifact, args: PathArgs) -> str:
    document = await shelf.document(args.call_id, artifact)
    matches = Matches()
    await _path(shelf, args).matches(document.root, matches)
    return await _values(shelf, args, "artifact_json_get", matches, "matches")


async def _filter(shelf: Shelf, artifact: SpooledArtifact, args: PathArgs) -> str:
    document = await shelf.document(args.call_id, artifact)
    path = _path(shelf, args)
    kept = Matches()
    for record in document.records:
        found = Matches()
        if await path.matches(record, found):
            kept.values.append(record)
        if found.stopped:
            kept.stopped = found.stopped
            break
    return await _values(shelf, args, "artifact_json_filter", kept, "records")


async def _pluck(shelf: Shelf, artifact: SpooledArtifact, args: PathArgs) -> str:
    document = await shelf.document(args.call_id, artifact)
    path = _path(shelf, args)
    found = Matches()
    for record in document.records:
        await path.matches(record, found)
        if found.stopped:
            break
    return await _values(shelf, args, "artifact_json_pluck", found, "values")


async def _keys(shelf: Shelf, artifact: SpooledArtifact, args: CursorArgs) -> str:
    document = await shelf.document(args.call_id, artifact)
    records = document.records[:KEYED_RECORDS]
    counts: dict[str, int] = {}
    for record in records:
        for key in record if isinstance(record, dict) else ():
            counts[key] = counts.get(key, 0) + 1
    several = isinstance(document.root, list)
    shelf.show(args.call_id)
    entries = [f"{key} (in {seen} of {len(records)} records)" if several else key for key, seen in counts.items()]
    return await show_list(shelf, args, "artifact_json_keys", entries, what="keys")


async def _slice(shelf: Shelf, artifact: SpooledArtifact, args: SliceArgs) -> str:
    document = await shelf.document(args.call_id, artifact)
    values = Matches(document.records[: args.end])
    again = f"end {args.end}" if args.end is not None else ""
    return await _values(shelf, args, "artifact_json_slice", values, "records", again=again)


async def _length(shelf: Shelf, artifact: SpooledArtifact, args: ReaderArgs) -> str:
    document = await shelf.document(args.call_id, artifact)
    return wording("artifact_measure", call=args.call_id, measure="records", value=len(document.records))


async def _type(shelf: Shelf, artifact: SpooledArtifact, args: ReaderArgs) -> str:
    document = await shelf.document(args.call_id, artifact)
    root = document.root
    shape = "object" if isinstance(root, dict) else "list" if isinstance(root, list) else "value"
    return wording("artifact_measure", call=args.call_id, measure="format", value=document.format, shape=shape)


def _path(shelf: Shelf, args: PathArgs) -> Path:
    try:
        return Path(args.path, Budget(shelf.breathe))
    except BadPath as error:
        raise refusal("path", "bad_path", reason=str(error)) from None


async def _values(
    shelf: Shelf, args: CursorArgs, reader: str, matches: Matches, what: str, *, again: str | None = None
) -> str:
    if matches.values:
        shelf.show(args.call_id)
    if again is None:
        again = f"path {args.path}" if isinstance(args, PathArgs) else ""
    values = matches.values
    return await show_list(
        shelf, args, reader, values, render=_rendered, what=what, again=again, stopped=matches.stopped
    )


def _rendered(value: Any) -> str | Iterable[str]:
    """A value as one line of JSON, piece by piece: of a large one only the beginning is needed. A text stays."""
    return value if isinstance(value, str) else _ENCODER.iterencode(value)


def _reader(name: str, description: str, args: Any, read: Any) -> Reader:
    return Reader(name=name, description=description, args=args, read=read, opens=_JSON)


#: What shows content, the most useful first.
CONTENT = (
    _reader("artifact_json_get", "Reads what matches in kept JSON.", PathArgs, _get),
    _reader("artifact_json_keys", "Lists the keys of kept JSON.", CursorArgs, _keys),
    _reader("artifact_json_filter", "Reads the records that have a match.", PathArgs, _filter),
    _reader("artifact_json_pluck", "Reads a value of each record.", PathArgs, _pluck),
    _reader("artifact_json_slice", "Reads records by number.", SliceArgs, _slice),
)

#: What only measures.
MEASURES = (
    _reader("artifact_json_length", "Records of kept JSON.", ReaderArgs, _length),
    _reader("artifact_json_type", "Format of kept JSON.", ReaderArgs, _type),
)
