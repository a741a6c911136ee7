"""Takes links out of what a model wrote: the harness writes the sources, a model cannot invent one."""

from __future__ import annotations

import re

_CODE = re.compile(r"(^ {0,3}(?:```|~~~).*?(?:^ {0,3}(?:```|~~~)\s*$|\Z)|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"!?\[([^\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_REFERENCE = re.compile(r"!?\[([^\]\n]+)\]\[[^\]\n]*\]|^ {0,3}\[[^\]\n]+\]:\s*\S+.*$", re.MULTILINE)
_BARE = re.compile(r"<?\b((?:https?|ftp|mailto|javascript|data):[^\s<>()`]+|www\.[^\s<>()`]+)>?", re.IGNORECASE)
_TAG = re.compile(r"</?(?:a|img|iframe|form|script|style|link|object|embed)\b[^>]*>?", re.IGNORECASE)


def without_links(markdown: str) -> str:
    """``markdown`` with links as their text and addresses as code. Code stays as it is."""
    parts = _CODE.split(markdown)
    return "".join(part if index % 2 else _plain(part) for index, part in enumerate(parts))


def _plain(text: str) -> str:
    text = _INLINE.sub(r"\1", text)
    text = _REFERENCE.sub(lambda match: match[1] or "", text)
    text = _TAG.sub("", text)
    return _BARE.sub(r"`\1`", text)
