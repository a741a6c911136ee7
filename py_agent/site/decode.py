"""Bytes to text by the rules of browsers (the WHATWG Encoding Standard), and markup that a file leaves open."""

from __future__ import annotations

import re

import webencodings

_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
#: Browsers look for the declaration in the first kilobyte; generators put comments before it.
DECLARATION_BYTES = 4_096
# Encodings that a declaration cannot mean, since it could be read as ASCII, and what the standard takes instead.
_IMPOSSIBLE = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252", "replacement": "utf-8"}
_OPENERS = re.compile(r"<!--|<(script|style|title|textarea)\b[^>]*>", re.IGNORECASE)
_COMMENT_END = re.compile(r"--!?>")


def decode_html(data: bytes) -> str:
    """The text of a page: byte order mark, declared encoding, UTF-8, and windows-1252 as browsers do at last."""
    return decode(data)[0]


def decode(data: bytes) -> tuple[str, str]:
    """The text of a page, and what is wrong with its encoding in words for a report (empty if nothing is).

    A declaration that the bytes contradict is not believed: a browser would show replacement characters, and the words
    that hold them would never be found.
    """
    encoding, wrong = _declared(data)
    text, used = webencodings.decode(data, encoding, "replace")
    if used.name != encoding.name or "\ufffd" not in text:
        return text, wrong
    try:
        strict, _ = webencodings.decode(data, encoding, "strict")
    except UnicodeDecodeError:
        pass
    else:
        return strict, wrong  # the page itself holds replacement characters
    told = f"its bytes are not {encoding.name}, which it is declared as or taken for: read as "
    try:
        return data.decode("utf-8"), told + "utf-8"
    except UnicodeDecodeError:
        return webencodings.decode(data, webencodings.lookup("windows-1252"), "replace")[0], told + "windows-1252"


def _declared(data: bytes) -> tuple[webencodings.Encoding, str]:
    head = _COMMENT.sub(b"", data[:DECLARATION_BYTES])
    match = _META.search(head) or _XML.search(head)
    label = match[1].decode("ascii") if match else ""
    encoding = webencodings.lookup(label) if label else None
    wrong = f"it declares the encoding {label!r}, which no browser knows" if label and encoding is None else ""
    if encoding is not None and encoding.name in _IMPOSSIBLE:
        encoding = webencodings.lookup(_IMPOSSIBLE[encoding.name])
    return encoding or webencodings.UTF8, wrong


def unclosed(source: str) -> list[str]:
    """What is still open at the end of ``source`` and swallows the text from there on, in words for a report."""
    position = 0
    while match := _OPENERS.search(source, position):
        tag = match[1]
        if tag is None:
            end = _COMMENT_END.search(source, match.end() - 2)
            name = "a comment"
        else:
            end = re.compile(rf"</{tag}\b", re.IGNORECASE).search(source, match.end())
            name = f"<{tag.lower()}>"
        if end is None:
            line = source.count("\n", 0, match.start()) + 1
            return [
                f"{name} opened in line {line} is never closed: browsers lose the text after it, and so does the index"
            ]
        position = end.end()
    return []
