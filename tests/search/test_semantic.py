"""Codes of queries and passages, by hand-made numbers: the arithmetic that every reader of an index must share."""

from __future__ import annotations

import base64
import struct

import pytest

from py_agent.search.fusion import fuse
from py_agent.search.semantic import CodeShard, Row, SemanticInfo, WordShard, query_code


def row(scale: int, *levels: int) -> Row:
    """A row of eight dimensions."""
    nibbles = bytes((levels[at] + 8) | (levels[at + 1] + 8) << 4 for at in range(0, len(levels), 2))
    return Row(scale, nibbles)


def test_the_signs_of_the_sum_are_the_code_and_bit_0_is_the_highest() -> None:
    assert query_code([row(1, 7, -7, 1, 0, -1, 3, 0, 7)], 8) == 0b10100101
    heavy, light = row(10, 7, 0, 0, 0, 0, 0, 0, 0), row(1, -7, 1, 0, 0, 0, 0, 0, 0)
    assert query_code([heavy, light], 8) == 0b11000000
    assert query_code([heavy, row(10, -7, 0, 0, 0, 0, 0, 0, 0)], 8) == 0, "a sum of nothing is no direction"
    assert query_code([], 8) is None


def test_shards_give_back_rows_and_likeness() -> None:
    rows = [row(258, 7, -7, 1, 0, -1, 3, 0, 7), row(1, 0, 0, 0, 0, 0, 0, 0, -7)]
    packed = b"".join(one.scale.to_bytes(2, "little") + one.nibbles for one in rows)
    words = "cache\nécran".encode()
    shard = WordShard(struct.pack("<II", 2, len(words)) + words + packed, 8)
    assert (shard.get("cache"), shard.get("écran"), shard.get("other")) == (rows[0], rows[1], None)
    codes = CodeShard(struct.pack("<III", 2, 9, 4) + bytes([0b11110000, 0b00001111]), 8)
    assert codes.likeness(0b11110001, 8) == [(7, 9), (1, 4)]


@pytest.mark.parametrize("data", [b"", b"\x02\x00\x00\x00\x05\x00\x00\x00cache", struct.pack("<II", 1, 2) + b"ab"])
def test_shards_that_do_not_fit_are_refused(data: bytes) -> None:
    with pytest.raises((ValueError, struct.error)):
        WordShard(data, 8)
    with pytest.raises((ValueError, struct.error)):
        CodeShard(data, 8)


def test_a_query_looks_into_the_nearest_clusters() -> None:
    centroids = base64.b64encode(bytes([0b11111111, 0b00000000, 0b00001111, 0b11110000])).decode()
    info = SemanticInfo({"bits": 8, "probes": 3, "centroids": centroids})
    assert info.nearest(0b00000111) == [2, 1, 0]
    with pytest.raises(ValueError, match="dimensions"):
        SemanticInfo({"bits": 12, "probes": 1, "centroids": centroids})


def scores(lexical: list[tuple[int, int]], likeness: list[tuple[int, int]]) -> list[tuple[float, int]]:
    return [(round(one.score, 3), one.passage) for one in fuse(lexical, likeness, 8, 0.6)]


def test_meaning_adds_what_a_passage_is_more_like_the_query_than_the_last_candidate() -> None:
    words = [(200, 1), (100, 2)]
    assert scores(words, []) == [(1.0, 1), (0.5, 2)]
    assert scores(words, [(8, 2), (6, 3), (5, 4)]) == [(1.0, 1), (0.95, 2), (0.15, 3)]
    # Half of the bits agree by chance: that is no likeness.
    assert scores(words, [(8, 2), (6, 3), (1, 4)]) == [(1.1, 2), (1.0, 1), (0.3, 3)]
    assert scores([], [(7, 8), (5, 9)]) == [(0.3, 8)]
    assert scores([], [(7, 8)]) == [(0.45, 8)], "one passage alone is found, too"
    assert scores([], [(4, 7)]) == []
    assert scores([], []) == []


def test_the_best_by_words_counts_for_less_where_its_words_could_give_more() -> None:
    weak = fuse([(200, 1), (100, 2)], [(8, 3), (5, 4)], 8, 0.6, 400)
    assert [(one.passage, round(one.words, 3), round(one.meaning, 3)) for one in weak] == [
        (1, 0.5, 0.0),
        (3, 0.0, 0.45),
        (2, 0.25, 0.0),
    ]
