"""ONE rule for arguments that a small model wrote in the wrong type: what is clearly meant is taken."""

from __future__ import annotations

import re
from typing import Any

from py_agent.model.safe_json import loads

_INTEGER = re.compile(r"\s*[+-]?\d+(?:\.0+)?\s*")
_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*")
_WORDS = {"true": True, "false": False}

#: Characters of a number in quotes at most: Python itself reads no whole number of more than 4,300 digits.
MAX_NUMBER_CHARS = 400

_KINDS: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": (list, tuple),
    "object": dict,
}


class NotMeant(ValueError):
    """The value is of another type than the argument's, and nothing of that type is clearly meant."""


def coerce(value: Any, schema: dict[str, Any], *, where: str = "") -> Any:
    """``value`` in the type that ``schema`` asks for, where it is clearly meant.

    A number in quotes is a number; a whole float is an integer; a number where text is asked is text; ``"true"`` is a
    boolean; a list or object as JSON text is one; a single value where a list is asked is a list of one; an empty text
    where an argument is optional is an absent argument. A boolean is never a number.

    Args:
        value: As the model wrote it.
        schema: JSON Schema of the argument, references resolved.
        where: Name of the argument, for the message.

    Raises:
        NotMeant: With a message that names the argument.
    """
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if options:
        return value if value is None else _one_of(value, options, where)
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        return _object(value, schema, where)
    if kind in ("integer", "number", "boolean") and value is not None:
        return _scalar(value, kind, where)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError as error:  # more digits than Python writes
            raise NotMeant(f"{where} is too long for a number") from error
    if kind == "array":
        return _list(value, schema, where)
    if kind == "object" and isinstance(value, str):
        return _from_json(value, dict, where)
    return value


def _is(value: Any, schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    if isinstance(value, bool):
        return kind == "boolean"
    return kind in _KINDS and isinstance(value, _KINDS[kind])


def _one_of(value: Any, options: list[dict[str, Any]], where: str) -> Any:
    """In the type that it has already if that is one of them, else in the first that it may mean."""
    problem: NotMeant | None = None
    for option in sorted(options, key=lambda option: not _is(value, option)):
        try:
            taken = coerce(value, option, where=where)
        except NotMeant as error:
            problem = problem or error
            continue
        if _is(taken, option) or option.get("type") not in _KINDS:
            return taken
    if problem is not None:
        raise problem
    return value


def _scalar(value: Any, kind: str, where: str) -> Any:
    if isinstance(value, str) and len(value) > MAX_NUMBER_CHARS:
        raise NotMeant(f"{where} is too long for a {kind}")
    text = value.strip().lower() if isinstance(value, str) else ""
    if kind == "boolean":
        if isinstance(value, bool):
            return value
        if text in _WORDS:
            return _WORDS[text]
        raise NotMeant(f"{where} must be true or false")
    if isinstance(value, bool):
        raise NotMeant(f"{where} must be a number, not {str(value).lower()}")
    if kind == "integer":
        if isinstance(value, int):
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and _INTEGER.fullmatch(value):
            return int(value.partition(".")[0])
        raise NotMeant(f"{where} must be a whole number")
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    raise NotMeant(f"{where} must be a number")


def _list(value: Any, schema: dict[str, Any], where: str) -> Any:
    if isinstance(value, str):
        text = value.strip()
        value = _from_json(text, list, where) if text.startswith("[") else [value]
    elif isinstance(value, dict):
        value = [value]
    if not isinstance(value, list | tuple):
        return value
    return [coerce(item, schema.get("items", {}), where=f"{where}.{at}") for at, item in enumerate(value)]


def _object(value: Any, schema: dict[str, Any], where: str) -> Any:
    if isinstance(value, str):
        value = _from_json(value, dict, where)
    if not isinstance(value, dict):
        return value
    required = schema.get("required", ())
    result = {}
    for key, item in value.items():
        prop = schema["properties"].get(key)
        # Models write "" or null for what they do not want to give.
        if prop is not None and key not in required and (item is None or item == ""):
            continue
        name = f"{where}.{key}" if where else key
        result[key] = item if prop is None else coerce(item, prop, where=name)
    return result


def _from_json(text: str, kind: type, where: str) -> Any:
    try:
        value = loads(text)
    except (ValueError, RecursionError) as error:
        raise NotMeant(f"{where or 'the arguments'} must be a {'list' if kind is list else 'JSON object'}") from error
    if not isinstance(value, kind):
        raise NotMeant(f"{where or 'the arguments'} must be a {'list' if kind is list else 'JSON object'}")
    return value
