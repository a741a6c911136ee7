"""Bytes to text, and markup that a file leaves open."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]+)", re.IGNORECASE)
# Browsers look for the declaration in the first kilobyte; generators put comments before it.
_DECLARATION_BYTES = 4_096
_OPENERS = re.compile(r"<!--|<(script|style|title|textarea)\b[^>]*>", re.IGNORECASE)
_COMMENT_END = re.compile(r"--!?>")


def decode_html(data: bytes) -> str:
    """Decodes a page: byte order mark, declared encoding, UTF-8, and windows-1252 as browsers do at last."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(name, "replace")
    head = data[:_DECLARATION_BYTES]
    declared = _META.search(head) or _XML.search(head)
    name = declared[1].decode("ascii") if declared else "utf-8"
    if name.lower() in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii"):
        name = "windows-1252"  # what every browser reads under these names
    if name.lower().startswith("utf-16"):
        name = "utf-8"  # a declaration that can be read as ASCII is not in UTF-16
    try:
        return data.decode(name)
    except (UnicodeDecodeError, LookupError):
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("windows-1252", "replace")


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
