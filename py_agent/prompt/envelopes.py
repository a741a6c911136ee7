"""Trust envelopes: how text that we did not write stands in a prompt.

Page text, tool results and the reader's words are data. Two things keep them so. Every control token of a dialect that
occurs in them is broken, so that no tokenizer reads it as one. And they stand between two marks that share a random
nonce, which a page cannot know and therefore cannot close.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

#: Makes the nonce of one envelope.
NonceMaker = Callable[[], str]

#: Bytes of randomness in a nonce: a page has one try in 4 billion, and the mark costs few tokens.
NONCE_BYTES = 4

# What a control token looks like in the dialects we speak, and in those that a server behind the engine `openai` may
# speak: it reads them in what we send it as text. `<|name|>`, `<|name>`, `<name|>`, with any name (U+2581 stands for a
# space in some), words in plain angle brackets, and words in square ones, which count in capitals only. Matches what a
# space is put behind.
_TOKEN = re.compile(
    r"""<(?=
        \| [\w"'./:\u2581-]{1,40} \|? >
      | /? [\w"'./:\u2581-]{1,40} \| >
      | /? (?:start_of_turn|end_of_turn|bos|eos|pad|unk|mask|s|think|tool_call|tool_response|
             tools|im_start|im_end|endoftext|start_of_image|end_of_image|image_soft_token|unused\d+) >
      | < /? SYS >>
    )
    | \[(?= /? (?-i:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|THINK) \])
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Everything that may open one: in ASCII, and what NFKC makes of it.
_OPENS = re.compile("[<\\[\uff1c\ufe64\uff3b\ufe47]")
# What a normaliser may drop: no-break spaces, control characters but white space, and what Unicode says is ignorable.
# Format characters (category Cf) are looked up.
_DROPPED = re.compile(
    "[\u00a0\u202f\u2007\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f"
    "\uffa0\U000e0100-\U000e01ef]"
)


class _Folded(dict[int, str]):
    """What each character is when a normaliser has done its work; filled as characters come up."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        dropped = _DROPPED.match(char) is not None or unicodedata.category(char) == "Cf"
        plain = self[code] = "" if dropped else unicodedata.normalize("NFKC", char)
        return plain


_FOLDED = _Folded()


def random_nonce() -> str:
    """A fresh nonce, hexadecimal."""
    return secrets.token_hex(NONCE_BYTES)


def break_tokens(text: str) -> str:
    """``text`` with a space put behind the bracket that opens a control token, for each in it. Twice is as once.

    Look-alikes count: full-width brackets, and zero-width characters or no-break spaces inside. An ordinary space is
    what stays when a tokenizer normalises.
    """
    if _OPENS.search(text) is None:
        return text
    if text.isascii() and _DROPPED.search(text) is None:
        return _TOKEN.sub(r"\g<0> ", text)  # nothing to fold
    if _TOKEN.search(text.translate(_FOLDED)) is None:
        return text
    folded: list[str] = []
    origin: list[int] = []
    for index, char in enumerate(text):
        plain = _FOLDED[ord(char)]
        folded.append(plain)
        origin.extend([index] * len(plain))
    breaks = [origin[match.start()] + 1 for match in _TOKEN.finditer("".join(folded))]
    pieces = [text[start:end] for start, end in zip([0, *breaks], [*breaks, len(text)], strict=True)]
    return " ".join(pieces)


def break_in(value: Any) -> Any:
    """``value``, a JSON value, with ``break_tokens`` applied to every string in it, keys too."""
    if isinstance(value, str):
        return break_tokens(value)
    if isinstance(value, dict):
        return {break_tokens(str(key)): break_in(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [break_in(item) for item in value]
    return value


def envelope(text: str, *, kind: str, nonce: str) -> str:
    """``text`` as data between two marks. ``kind`` is ours, never data: ``reader``, or the name of a tool."""
    return f"[{kind} {nonce}]\n{break_tokens(text)}\n[/{kind} {nonce}]"


_OPEN = re.compile(r"^\[(\w+(?: [\w-]+)?) ([0-9a-f]{4,32})\]\n", re.MULTILINE)


def open_envelopes(text: str) -> Iterator[tuple[str, str]]:
    """The envelopes in a message that the harness wrote, outermost only, as (kind, text)."""
    at = 0
    while (match := _OPEN.search(text, at)) is not None:
        close = f"\n[/{match[1]} {match[2]}]"
        end = text.find(close, match.end() - 1)
        if end < 0:
            return
        yield match[1], text[match.end() : end]
        at = end + len(close)


def outside_envelopes(text: str) -> str:
    """What the harness itself says in a message: the text without its envelopes."""
    kept: list[str] = []
    at = 0
    while (match := _OPEN.search(text, at)) is not None:
        close = f"\n[/{match[1]} {match[2]}]"
        end = text.find(close, match.end() - 1)
        if end < 0:
            break
        kept.append(text[at : match.start()])
        at = end + len(close)
    kept.append(text[at:])
    return "".join(kept)
