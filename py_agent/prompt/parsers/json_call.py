"""Calls as JSON: ``{"name": ..., "arguments": {...}}``, with the mistakes that small models make in it.

Strings are taken out before anything is repaired: a repair mends the structure and never touches what a string says.
"""

from __future__ import annotations

import json
import re
from typing import Any

from py_agent.model.prompt import CallSpec
from py_agent.model.safe_json import loads
from py_agent.prompt.parsers.base import BadCall, Found, Tools, plain_name

#: Keys of a call object: the tool's name, its arguments, and what may stand beside them.
NAME_KEYS = ("name", "tool", "tool_name", "function")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
OTHER_KEYS = ("id", "type")

#: Nesting of a call at most, as in a native call.
MAX_DEPTH = 16

#: Characters of white space in front of a string that are looked through for what it belongs to.
MAX_SPACE = 80

_PLACE = "\x01{}\x01"
_PLACES = re.compile("\x01(\\d+)\x01")
_ESCAPE = re.compile(r"""\\(u[0-9a-fA-F]{4}|["'\\/bfnrt])""", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_AFTER_STRING = re.compile(r"\s*(?:[,:}\]]|\Z)")
_BEFORE_STRING = re.compile(r"[\[{,:]\s*\Z")


def json_calls(text: str, tools: Tools | None) -> Found | None:
    """The call, or the list of calls, that ``text`` is.

    Args:
        text: What may be JSON.
        tools: Only these can be called; None: any name is taken, since marks around the text say that it is a call.

    Returns:
        None where the text is anything else.
    """
    try:
        value = parse_tolerantly(text)
    except BadCall:
        return None
    items = value if isinstance(value, list) else [value]
    found = Found()
    for item in items:
        call = _call(item)
        if call is None or (tools is not None and call.name not in tools):
            return None
        found.calls.append(call)
    return found if found.calls else None


def may_begin_call(text: str) -> bool | None:
    """Whether ``text``, the start of something in braces, can still become a call: None as long as that is open."""
    match = re.match(r"\s*\[?\s*(?:\{\s*(?:([\"']?)(\w*)(.?))?)?", text)
    assert match is not None
    if match.end() < len(text) and match[2] is None:
        return False  # something else than an object's first key
    if match[2] is None:
        return None
    quote, word, after = match[1], match[2], match[3]
    if not after:
        return None if any(key.startswith(word) for key in (*NAME_KEYS, *ARGUMENT_KEYS, *OTHER_KEYS)) else False
    ends = after == quote if quote else after in ": \t\n"
    return ends and word in (*NAME_KEYS, *ARGUMENT_KEYS, *OTHER_KEYS)


def _call(item: Any) -> CallSpec | None:
    if not isinstance(item, dict):
        return None
    function = item.get("function")
    if isinstance(function, dict) and not set(item) - {"function", *OTHER_KEYS}:
        return _call(function)
    names = [key for key in NAME_KEYS if isinstance(item.get(key), str)]
    arguments = [key for key in ARGUMENT_KEYS if key in item]
    if len(names) != 1 or len(arguments) > 1 or set(item) - {names[0], *arguments, *OTHER_KEYS}:
        return None
    given = item[arguments[0]] if arguments else {}
    if isinstance(given, str):
        try:
            given = parse_tolerantly(given)
        except BadCall:
            return None
    if not isinstance(given, dict) or not item[names[0]].strip():
        return None
    return CallSpec(name=plain_name(item[names[0]].strip()), arguments=given)


def parse_tolerantly(text: str) -> Any:
    """The JSON value that ``text`` is, mistakes mended: commas, quotes, bare keys, Python's words, raw line feeds.

    Raises:
        BadCall: It is not one complete object or list.
    """
    text = text.strip()
    if not text or text[0] not in "{[" or "\x01" in text:
        raise BadCall("a call object starts with a brace")
    try:
        return loads(text)
    except (ValueError, RecursionError):
        pass
    skeleton, strings = _take_strings(text)
    _check_brackets(skeleton)
    try:
        value = json.loads(skeleton, strict=False)
    except (ValueError, RecursionError):
        value = _repair(skeleton)
    return _put_strings(value, strings)


def _take_strings(text: str) -> tuple[str, list[str]]:
    """``text`` with a place for each string in it, and what the strings say."""
    out: list[str] = []
    strings: list[str] = []
    at = 0
    copied = 0
    while at < len(text):
        quote = text[at]
        if quote not in "\"'" or not _BEFORE_STRING.search(text[max(copied, at - MAX_SPACE) : at]):
            at += 1
            continue
        end = _string_end(text, at)
        out.append(text[copied:at])
        out.append(f'"{_PLACE.format(len(strings))}"')
        strings.append(_unescape(text[at + 1 : end]))
        at = copied = end + 1
    out.append(text[copied:])
    return "".join(out), strings


def _string_end(text: str, start: int) -> int:
    """Where the string that opens at ``start`` closes: at a quote of its kind behind which JSON goes on."""
    quote = text[start]
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == quote and _AFTER_STRING.match(text, at + 1):
            return at
        at += 1
    raise BadCall("a string is not closed")


def _unescape(raw: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if code[0] == "u" else _ESCAPES.get(code, code)

    text = _ESCAPE.sub(one, raw)
    # Two escapes of one character, as JSON writes emoji.
    return _SURROGATES.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _check_brackets(skeleton: str) -> None:
    """A repair would close what a limit has cut: only what is whole may be repaired."""
    stack: list[str] = []
    for at, char in enumerate(skeleton):
        if char in "{[":
            stack.append("}" if char == "{" else "]")
            if len(stack) > MAX_DEPTH:
                raise BadCall("the arguments are nested too deep")
        elif char in "}]":
            if not stack or stack.pop() != char:
                raise BadCall("the brackets do not fit together")
            if not stack and skeleton[at + 1 :].strip():
                raise BadCall("there is text behind the call")
    if stack:
        raise BadCall("the call ends before its closing brace")


def _repair(skeleton: str) -> Any:
    from json_repair import repair_json

    try:
        value = repair_json(skeleton, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError) as error:
        raise BadCall("the call is no JSON") from error
    if not isinstance(value, dict | list):
        raise BadCall("the call is no JSON")
    return value


def _put_strings(value: Any, strings: list[str]) -> Any:
    if isinstance(value, str):
        return _PLACES.sub(lambda match: strings[int(match[1])], value)
    if isinstance(value, dict):
        return {_put_strings(key, strings): _put_strings(item, strings) for key, item in value.items()}
    if isinstance(value, list):
        return [_put_strings(item, strings) for item in value]
    return value
