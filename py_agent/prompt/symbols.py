"""Which symbols and emoji Gemma's vocabulary has as tokens of their own; all others are spelt byte by byte.

Bitmaps in base64, one bit a code point, made from the vocabulary by ``tests/fixtures/tokens/gemma_truth.py``.
"""

from __future__ import annotations

import base64
import functools

#: First code point of each block, and its bitmap, lowest bit first.
BLOCKS = (
    (
        0x2000,
        "APh///98fd+dYwAA3wrz739kKBRSXzanAADAawgAAAAs4upm1wAAAgAAGHr/Nx9wAAD/Y2uGuBxxEh8wnQMhAO3L7uepX3AwKBlV"
        "EvsMDMzMAPCCNwCDgnAAAAMAwAIAkQ0d/WiXIAAAAAAAAAAgAEAAAPp/xAAAAEAAkBD+DwcABAAAOEBAACAAAAD/f/EDAMsAAAAA"
        "QEGEAJ95lgTgAP/3uzsYEBgYIgizZPv6H/Lf+x+Ib/7c//v/M/N/gAB7/8I//U30AX8F//+t/78FyAAffRuTLABgMMEYAIAGvyc0"
        "//1n8////////3/8wMP/A1xw/78LvTcACAAA/AtABhEHAggAAACAAAAAAAAAAAAAAAAAAAAAgQEAAAAQAECAAAAEgGEAsAAAAAAA"
        "EAAAAAIAYAAAAACAAAABAAAAAAAAABAAAIAAAAAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAOAAADgwwAAAAAAnAAAAAAAIACAEAAAA"
        "AAAAAAAAAAAA",
    ),
    (
        0x1F000,
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAAAAAAAAAAAAAAAAARAAAAEQEAAJPoAgG8BwAAAAAAAAAAwP///wQAAAQAgOAEAAAD"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAA/f////P/////////////////z8K//+/f///1//f/uf///////////////9/9////////////"
        "fdt//////1/nP/p/3//m//s/AH7/PxiA8QeAPnUAMAACEAAgDmAKgQj9/////////7///wAAAAAAAP87v1/9f3asB3hHADsIeQMA"
        "AAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAA7wIAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPD//////yW/T///"
        "/r9/B/9/79BFgPhBpyfX3783ctcAAAAAAAAAAAAAAAAAAMEHEgABEgAAMAAEAAEA3wBBAA==",
    ),
)


@functools.cache
def known_symbols() -> frozenset[str]:
    """The symbols that are one token."""
    known: set[str] = set()
    for first, text in BLOCKS:
        for at, byte in enumerate(base64.b64decode(text)):
            known.update(chr(first + at * 8 + bit) for bit in range(8) if byte >> bit & 1)
    return frozenset(known)
