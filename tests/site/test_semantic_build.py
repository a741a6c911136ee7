"""Vectors of a real site by the real encoder: what they find, that they are the same each time, and what is kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from py_agent.model.errors import ConfigError
from py_agent.search.tokens import Tokenizer
from py_agent.site.cache import VECTORS, ReadingCache
from py_agent.site.index import write_index
from py_agent.site.index.postings import Rows, Vocabulary
from py_agent.site.load import load_index
from py_agent.site.read import Page
from py_agent.site.semantic import CachingEncoder, Encoder, Semantic, build_semantic, require_encoder
from py_agent.site.semantic.cluster import CLUSTER_FROM, clusters, probes
from py_agent.site.semantic.encoder import DIMENSIONS
from py_agent.site.semantic.fit import LEVELS, fit, quantised
from tests.sites import encoder, html_page, make_site, meaning, read

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

pytestmark = pytest.mark.cpython  # vectors are made where an index is built

PAGES = {
    "erase": html_page("Erasing files", "Open the menu and choose Erase to remove a file. It cannot be undone."),
    "colours": html_page("Themes", "A theme sets the fonts and colours of every screen. Dark ones save power."),
    "sign-in": html_page("Accounts", "Sign in with your address and your password. Forgotten ones are reset."),
    "printing": html_page("Printing", "Connect a printer with a cable, then print on paper in black and white."),
    "sharing": html_page("Sharing", "Send a link to your friends, and they see the album in their browser."),
}


class Counting:
    """The encoder, and how many texts it was given."""

    def __init__(self, encoder: Encoder) -> None:
        self.words = encoder.words[:50]
        self.encoded = 0
        self._encoder = encoder

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        self.encoded += len(texts)
        return self._encoder.encode(texts, progress)


@pytest.fixture
def pages(tmp_path: Path) -> Sequence[Page]:
    return read(make_site(tmp_path / "site", PAGES)).pages


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


async def test_a_passage_is_found_that_has_no_word_of_the_question(pages: Sequence[Page], tmp_path: Path) -> None:
    write_index(pages, tmp_path / "words")
    write_index(pages, tmp_path / "meaning", meaning=meaning)
    question = "How can I destroy documents?"
    by_words = await (await load_index(tmp_path / "words")).search(question)
    searcher = await load_index(tmp_path / "meaning")
    by_meaning = await searcher.search(question)
    assert not by_words.hits
    assert by_meaning.hits[0].passage.page == "erase/index.html"
    assert by_meaning.missing == ("destroy", "documents"), "what no passage says is missing all the same"
    assert not (await searcher.search("zzyzx qwrtp")).hits, "words that nobody knows point nowhere"


def test_the_same_site_gives_the_same_index_from_the_cache_and_without_it(
    pages: Sequence[Page], tmp_path: Path
) -> None:
    def build(name: str, cache: ReadingCache) -> tuple[int, dict[str, bytes]]:
        counting = Counting(encoder())

        def make(rows: Rows, words: Vocabulary, tokenizer: Tokenizer) -> Semantic:
            return build_semantic(rows, words.frequency, tokenizer, CachingEncoder(counting, cache), progress)

        done: list[int] = []

        def progress(total: int, more: int) -> None:
            assert total >= len(PAGES)
            done.append(more)
            totals.append(total)

        totals: list[int] = []
        write_index(pages, tmp_path / name, meaning=make)
        assert sum(done) == totals[-1], "the progress bar ends at its end"
        return counting.encoded, contents(tmp_path / name)

    without, first = build("a", ReadingCache(None))
    cold, second = build("b", ReadingCache(tmp_path / "cache", VECTORS))
    kept = ReadingCache(tmp_path / "cache", VECTORS)
    warm, third = build("c", kept)
    assert first == second == third
    assert (cold, warm) == (without, 0)
    kept.put(dict.fromkeys(["0" * 64], b"short"))
    assert build("d", kept)[0] == 0


def test_a_vector_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    cache = ReadingCache(tmp_path, VECTORS)
    counting = Counting(encoder())
    whole = CachingEncoder(counting, cache).encode(["one text", "another"])
    with cache._database or pytest.fail("no cache"):  # type: ignore[union-attr]
        cache._database.execute("UPDATE readings SET reading = substr(reading, 1, 100)")  # type: ignore[union-attr]
    again = CachingEncoder(counting, cache).encode(["one text", "another"])
    assert counting.encoded == 4
    assert (whole == again).all()


def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    require_encoder()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigError, match="not installed") as caught:
        require_encoder()
    assert "py-agent[semantic]" in (caught.value.hint or "")
    with pytest.raises(ConfigError, match="not installed"):
        Encoder()


def test_vectors_of_texts_that_mean_the_same_are_near() -> None:
    one, same, other = encoder().encode(["How to remove a file", "Deleting documents", "The weather in spring"])
    assert one @ same > 0.4 > one @ other + 0.1
    assert encoder().encode([]).shape == (0, DIMENSIONS)
    long = "word " * 5_000
    assert abs(float((encoder().encode([long]) ** 2).sum()) - 1) < 1e-5, "long texts are cut, not refused"


def test_the_fitted_rows_come_nearer_to_what_the_encoder_says_of_texts() -> None:
    import numpy as np

    texts = [
        f"{verb} {noun}" for verb in ("open", "close", "print", "send") for noun in ("file", "mail", "door", "page")
    ]
    words = {word: at for at, word in enumerate(sorted({word for text in texts for word in text.split()}))}
    start, wanted = encoder().encode(list(words)), encoder().encode(texts)
    terms = [text.split() for text in texts]

    def likeness(rows: NDArray[np.float32]) -> float:
        means = np.array([rows[[words[term] for term in text]].mean(axis=0) for text in terms])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        return float((means * wanted).sum(axis=1).mean())

    before, after = likeness(start), likeness(fit(start, words, terms, wanted))
    assert after > before + 0.02
    scales, packed = quantised(fit(start, words, terms, wanted))
    low, high = (packed & 15).astype(int) - 8, (packed >> 4).astype(int) - 8
    rows = np.stack([low, high], axis=2).reshape(len(words), -1) * scales[:, None].astype(float)
    assert np.abs(low).max() <= LEVELS
    assert likeness(rows.astype(np.float32)) > after - 0.02, "half a byte a dimension is enough"
    assert (fit(start, words, [["nothing"]], wanted[:1]) == start).all()


def test_passages_that_are_alike_share_a_cluster() -> None:
    import numpy as np

    chance = np.random.default_rng(3)
    centres = chance.normal(size=(60, DIMENSIONS)).astype(np.float32)
    group = np.arange(CLUSTER_FROM) % 60
    vectors = centres[group] + chance.normal(scale=0.3, size=(CLUSTER_FROM, DIMENSIONS)).astype(np.float32)
    centroids, nearest = clusters(vectors)
    assert len(centroids) == CLUSTER_FROM // 128 and np.bincount(nearest, minlength=len(centroids)).min() > 0
    together = [len(set(nearest[group == one])) for one in range(60)]
    assert sum(together) / 60 < 3, "a group is hardly ever torn apart"
    few = vectors[:100]
    assert len(clusters(few)[0]) == 1 and not clusters(few)[1].any()


def test_a_query_looks_into_a_share_of_the_clusters_and_never_into_more_than_there_are() -> None:
    numbers = [1, 10, 50, 100, 256, 1_000]
    counts = [probes(number) for number in numbers]
    assert counts[0] == 1
    assert all(count <= number for count, number in zip(counts, numbers, strict=True))
