"""An estimate of how many tokens a text is, for engines that cannot tell.

The estimate errs towards too many: a prompt that is thought too long costs a cut, one that is thought too short costs
the turn (the engine refuses it).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

#: Counts the tokens of a text.
TokenCounter = Callable[[str], int]

# Sub-word vocabularies of 256k pieces: characters that one token holds, by kind, rounded down.
CHARS_PER_TOKEN_WORD = 3.6  # Latin letters, where common words are one token and rare ones several
CHARS_PER_TOKEN_OTHER_SCRIPT = 2.0  # Cyrillic, Greek, Arabic ...: in the vocabulary, but in shorter pieces
CHARS_PER_TOKEN_IDEOGRAPH = 1.0  # CJK: many two-character pieces, and many rare characters of two or three bytes
CHARS_PER_TOKEN_PUNCTUATION = 1.4  # runs such as `://` or `");` are one token, most others are not
CHARS_PER_TOKEN_DIGIT = 1.0  # digits stand alone
TOKENS_PER_SYMBOL = 2.0  # emoji and the like: one token, or a few bytes

_WORD = re.compile(r"[A-Za-z ]+")
_DIGIT = re.compile(r"[0-9]")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~\n\t\r]")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SYMBOL = re.compile(r"[\u2190-\u2bff\ufe0f\U00010000-\U0010ffff]")


def estimate_tokens(text: str) -> int:
    """Tokens in ``text``, rather too many than too few."""
    words = sum(len(run) for run in _WORD.findall(text))
    digits = len(_DIGIT.findall(text))
    punctuation = len(_PUNCTUATION.findall(text))
    ideographs = len(_IDEOGRAPH.findall(text)) if not text.isascii() else 0
    symbols = len(_SYMBOL.findall(text)) if not text.isascii() else 0
    other = len(text) - words - digits - punctuation - ideographs - symbols
    return math.ceil(
        words / CHARS_PER_TOKEN_WORD
        + digits / CHARS_PER_TOKEN_DIGIT
        + punctuation / CHARS_PER_TOKEN_PUNCTUATION
        + ideographs / CHARS_PER_TOKEN_IDEOGRAPH
        + symbols * TOKENS_PER_SYMBOL
        + other / CHARS_PER_TOKEN_OTHER_SCRIPT
    )
