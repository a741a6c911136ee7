"""The synonyms file: words that a site's readers use and its pages do not."""

from __future__ import annotations

import re
from pathlib import Path

from py_agent.model.errors import ConfigError

# A sign of its own: the one in C# belongs to the word.
_COMMENT = re.compile(r"(?:^|\s)#(?:\s.*)?$")


def read_synonyms(path: Path) -> dict[str, list[str]]:
    """Reads a file of synonyms.

    A line ``a, b, c`` makes its words stand for each other; ``a => b, c`` makes a search for ``a`` find ``b`` and ``c``
    as well, not the other way round. Empty lines, and what stands behind a ``#`` of its own, are left out.

    Returns:
        What is searched along with each word.

    Raises:
        ConfigError: The file cannot be read, or a line is neither.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}.", hint="Give a file of synonyms in UTF-8.", code="bad_input"
        ) from error
    found: dict[str, list[str]] = {}
    for number, whole in enumerate(lines, 1):
        line = _COMMENT.sub("", whole).strip()
        if not line:
            continue
        left, arrow, right = line.partition("=>")
        words, others = _words(left), _words(right)
        if not words or (arrow and not others) or (not arrow and len(words) < 2) or "=>" in right:
            raise ConfigError(
                f"{path}, line {number}, names no synonyms: {whole.strip()[:80]!r}.",
                hint="Write `a, b, c` for words that mean the same, or `a => b` for one that should find another.",
                code="bad_input",
            )
        for word in words:
            known = found.setdefault(word, [])
            known += [other for other in (others or words) if other != word and other not in known]
    return found


def _words(text: str) -> list[str]:
    return [word for part in text.split(",") if (word := part.strip())]
