"""Calls written as JSON: ``{"name": "search_docs", "arguments": {"query": "x"}}``, with the mistakes small models make.

What is not strict JSON is repaired by ``json_repair``, which must guess where a string ends and so may change one. It
therefore never sees one: each string, number and word is taken out first, a mark is put in its place, and every mark
has to come back exactly once, as a whole key or a whole value.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from py_agent.model.prompt import CallSpec
from py_agent.prompt.dialects.gemma4 import QUOTE
from py_agent.prompt.parsers.bad import BadCall
from py_agent.prompt.parsers.chars import join_halves, unescape
from py_agent.prompt.parsers.known import KnownTools
from py_agent.prompt.parsers.lexer import MAX_DEPTH, Lexer

#: Characters of the object outside of its strings, at most: a call has a few dozen, and repair is slow.
MAX_SKELETON = 4_000

NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "kwargs")
#: Other keys that a call may have. An object with any more is something else: a declaration, a configuration.
_OTHER_KEYS = ("type", "id", "call_id")
_FIRST_KEYS = (*NAME_KEYS, *ARGUMENT_KEYS, *_OTHER_KEYS)

#: Characters in which an object has to show that it could be a call; a longer wait would be felt by the reader.
MAX_HEAD = 160

_NAME = re.compile(r"[\w.:-]*")
#: Where an object that cannot be read names its tool.
_WRITTEN = re.compile(rf"""\b(?:{"|".join(NAME_KEYS)})\b["']?\s*:\s*["']?([\w.:-]{{1,60}})""")
_MARK = "\ue000"
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,39})(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?")
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
#: A piece of a text, and whether it is the content of a string.
_Part = tuple[bool, str]
_OPENING = re.compile(r"[\[{,:]\s{0,80}([\"'])")
_CLOSING = {quote: re.compile(rf"((?:\\.|[^\\])*?){quote}(?=\s*(?:[,:}}\]]|\Z))", re.DOTALL) for quote in ('"', "'")}
#: What looks like the end of one string and the beginning of the next.
_SEAM = re.compile(r"""["']\s*[-+%,:]+\s*["']""")
_WORDS = re.compile(r'[^\s{}\[\],:"]+')
_KEY = re.compile(r"[A-Za-z_$][\w$-]*")


def parse_json_call(text: str, tools: KnownTools, *, closed: bool) -> CallSpec:
    """The call that ``text``, one JSON object, is.

    Args:
        text: The object and nothing else.
        tools: For the names that are known.
        closed: Something behind ``text`` proves that the model was done with it; then missing brackets are added.

    Raises:
        BadCall: It cannot be read; or it can, and is no call. ``name`` is the tool that it names.
    """
    try:
        value = load(text, closed=closed)
        return call_of(value if isinstance(value, dict) else {}, tools)
    except BadCall as bad:
        written = _WRITTEN.search(text)
        if bad.name or written is None:
            raise
        name = tools.resolve(written[1])
        raise BadCall(f"{name}: {bad}", name) from bad


def call_of(value: dict[str, Any], tools: KnownTools) -> CallSpec:
    """The call that an object stands for.

    Raises:
        BadCall: It is none.
    """
    inner = value.get("function")
    if isinstance(inner, dict) and set(value) <= {"function", *_OTHER_KEYS}:
        value = inner
    names = [key for key in NAME_KEYS if key in value]
    arguments = [key for key in ARGUMENT_KEYS if key in value]
    if len(names) != 1 or len(arguments) > 1 or not isinstance(value[names[0]], str) or not value[names[0]].strip():
        raise BadCall("a call is an object with a name and arguments")
    name = tools.resolve(value[names[0]])
    if set(value) - {names[0], *arguments, *_OTHER_KEYS}:
        raise BadCall(f"{name}: a call has a name and arguments, nothing else", name)
    given = value[arguments[0]] if arguments else {}
    if isinstance(given, str):
        # Some models write the arguments as JSON in a string.
        given = load(given, closed=False) if given.strip() else {}
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise BadCall(f"{name}: the arguments are an object", name)
    if _is_schema(given):
        raise BadCall(f"{name}: that is the tool's declaration and no call", name)
    return CallSpec(name=name, arguments=given)


def _is_schema(arguments: dict[str, Any]) -> bool:
    return arguments.get("type") == "object" and isinstance(arguments.get("properties"), dict)


def load(text: str, *, closed: bool) -> Any:
    """The value of a JSON text, repaired where it has to be; the content of its strings is never changed.

    Raises:
        BadCall: It cannot be read without a guess.
    """
    try:
        if _depth(text) <= MAX_DEPTH:
            return _joined(json.loads(text, strict=False, parse_constant=_no_constant, parse_float=_finite))
    except (ValueError, RecursionError):
        pass
    return _repaired(text, closed=closed)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word} is too large")
    return number


def _depth(text: str) -> int:
    """The deepest nesting that ``text`` can have; brackets in strings count, which is on the safe side."""
    deepest = depth = 0
    for match in re.finditer(r"[\[{]|[\]}]", text):
        depth = depth + 1 if match[0] in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _repaired(text: str, *, closed: bool) -> Any:
    try:
        return _mended(_strings(text), closed=closed)
    except BadCall:
        loose = _strings_loosely(text)
        if loose is None:
            raise
        return _mended(loose, closed=closed)


def _mended(parts: list[_Part], *, closed: bool) -> Any:
    values: list[Any] = []
    skeleton = "".join(_mark(values, text) if string else text for string, text in parts)
    outside = "".join(text for string, text in parts if not string)
    if len(outside) > MAX_SKELETON or _depth(outside) > MAX_DEPTH:
        raise BadCall("that is more than a call")
    if "(" in outside or ")" in outside:
        raise BadCall("an argument is code; write it out as text, a number, a list or an object")
    if not closed and sum(map(outside.count, "{[")) > sum(map(outside.count, "}]")):
        raise BadCall("the call ends before its closing brace")
    skeleton = _words_taken_out(skeleton, values)
    from json_repair import repair_json

    used: list[int] = []
    result = _put_back(repair_json(skeleton, return_objects=True, skip_json_loads=True), values, used)
    if sorted(used) != list(range(len(values))):
        raise BadCall("the JSON of the call cannot be read")
    return result


def _strings(text: str) -> list[_Part]:
    """What is in the strings of ``text``, and what is between them.

    Raises:
        BadCall: A string is open at the end.
    """
    lexer = Lexer()
    lexer.feed(text)
    parts: list[_Part] = []
    content: list[str] = []
    for kind, part in lexer.tokens(final=True):
        if kind == "string":
            content.append(part)
        elif kind == "quote":
            content = []
        elif kind == "unquote":
            parts.append((True, "".join(content) if part == QUOTE else unescape("".join(content))))
        else:
            parts.append((False, part))
    if lexer.quote:
        raise BadCall("a string is not closed")
    return parts


def _strings_loosely(text: str) -> list[_Part] | None:
    """The same where quotes inside a string were not escaped: it ends at a quote behind which JSON goes on. None where
    that is not certain.
    """
    parts: list[_Part] = []
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        end = _CLOSING[opening[1]].match(text, opening.end())
        if end is None or _SEAM.search(end[1]):
            return None
        parts += [(False, text[at : opening.end() - 1]), (True, unescape(end[1]))]
        at = end.end()
    return [*parts, (False, text[at:])]


def _mark(values: list[Any], value: Any) -> str:
    values.append(value)
    return f'"{_MARK}{len(values) - 1}{_MARK}"'


def _words_taken_out(skeleton: str, values: list[Any]) -> str:
    """Repair drops what it cannot place. A call with a word that is no value and no key says something that we do not
    understand.
    """

    def taken(match: re.Match[str]) -> str:
        word = match[0]
        if word.startswith(_MARK) or (match.string[match.end() :].lstrip()[:1] == ":" and _KEY.fullmatch(word)):
            return word
        if word not in _LITERALS and _NUMBER.fullmatch(word) is None:
            raise BadCall("the JSON of the call cannot be read")
        return _mark(values, _LITERALS[word] if word in _LITERALS else json.loads(word))

    return _WORDS.sub(taken, skeleton)


def _put_back(value: Any, values: list[Any], used: list[int]) -> Any:
    if isinstance(value, dict):
        return {_key(key, values, used): _put_back(item, values, used) for key, item in value.items()}
    if isinstance(value, list):
        return [_put_back(item, values, used) for item in value]
    number = _number(value) if isinstance(value, str) else None
    if number is None:
        raise BadCall("the JSON of the call cannot be read")
    return _take(number, values, used)


def _key(key: Any, values: list[Any], used: list[int]) -> str:
    number = _number(str(key))
    return str(key if number is None else _take(number, values, used))


def _number(text: str) -> int | None:
    inner = text[1:-1]
    return int(inner) if len(text) > 2 and text[0] == text[-1] == _MARK and inner.isdigit() else None


def _take(number: int, values: list[Any], used: list[int]) -> Any:
    if number >= len(values):
        raise BadCall("the JSON of the call cannot be read")
    used.append(number)
    return values[number]


def _joined(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else join_halves(value)
    if isinstance(value, dict):
        return {join_halves(key): _joined(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_joined(item) for item in value]
    return value


def could_be_call(text: str, tools: KnownTools) -> bool | None:
    """Whether a text that begins with ``{`` can become a call of a known tool, judged by its first key and the name
    behind it; None while that has not come.
    """
    lexer = Lexer()
    lexer.feed(text)
    pair = ["", ""]
    at = length = 0
    for kind, part in lexer.tokens():
        length += len(part)
        if length > MAX_HEAD:
            return False
        if kind == "open" and lexer.depth > 1:
            return at == 1 and not pair[1].strip() and pair[0].strip() in ("function", *ARGUMENT_KEYS)
        if kind == "separator" and part == ":" and at == 0:
            at = 1
        elif kind in ("string", "word"):
            pair[at] += part
        elif kind in ("unquote", "separator", "close") and at == 1:
            return _names_tool(pair[0].strip(), pair[1], tools)
        elif kind in ("separator", "close"):
            return False
    key, value = pair[0].strip(), pair[1].strip()
    if len(text) > MAX_HEAD or (key not in _FIRST_KEYS if at else not any(one.startswith(key) for one in _FIRST_KEYS)):
        return False
    return None if key not in NAME_KEYS or _NAME.fullmatch(value) else False


def _names_tool(key: str, value: str, tools: KnownTools) -> bool:
    if key not in NAME_KEYS:
        return key in _FIRST_KEYS
    return _NAME.fullmatch(value.strip()) is not None and tools.resolve(value) in tools
