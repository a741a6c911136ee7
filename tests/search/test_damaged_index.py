"""An index that is missing, cut, mixed up, or something else entirely."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from py_agent.model.errors import SearchIndexError
from py_agent.search import open_index
from py_agent.search.manifest import FORMAT, parse_manifest
from py_agent.search.postings import Postings, encode, encode_shard
from py_agent.search.shards import digest_of, pack, shard_name
from tests.sites import CASES, html_page, make_site, open_site


class Folder:
    """The files of an index; any may be replaced."""

    def __init__(self, root: Path) -> None:
        self.files = {file.name: file.read_bytes() for file in root.iterdir()}
        self.fetched: list[str] = []

    async def fetch(self, name: str) -> bytes:
        self.fetched.append(name)
        if name not in self.files:
            raise SearchIndexError(f"{name} is not there.", hint="Upload it.", code="missing")
        return self.files[name]

    def name(self, kind: str) -> str:
        return next(name for name in self.files if name.startswith(f"{kind}-"))

    def replace(self, kind: str, content: bytes) -> None:
        """Puts other content under a name that fits it, and in the lists that name it."""
        old = self.name(kind)
        del self.files[old]
        new = shard_name(kind, digest_of(content))
        self.files[new] = pack(content)
        if kind != "directory":
            directory = gzip.decompress(self.files[self.name("directory")])
            self.replace("directory", directory.replace(old[-16:-4].encode(), new[-16:-4].encode()))
        else:
            self.manifest = {**self.manifest, "directory": new}

    @property
    def manifest(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.files["manifest.json"])
        return data

    @manifest.setter
    def manifest(self, data: dict[str, Any]) -> None:
        self.files["manifest.json"] = json.dumps(data).encode()

    async def refused(self) -> SearchIndexError:
        with pytest.raises(SearchIndexError) as caught:
            await (await open_index(self.files["manifest.json"], self.fetch)).search("words wrods")
        assert caught.value.hint
        return caught.value


@pytest.fixture
async def index(tmp_path: Path) -> Folder:
    await open_site(make_site(tmp_path / "site", {"a.html": html_page("A", "Some words.")}), tmp_path / "index")
    return Folder(tmp_path / "index")


@pytest.mark.parametrize("kind", ["directory", "terms", "texts", "typos"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ((CASES / "R07.fallback.html").read_bytes(), "an HTML page"),
        ((CASES / "R07.lfs.txt").read_bytes(), "a Git LFS pointer"),
        (b'{"error":"restricted"}', "JSON"),
        (b"", "empty"),
        (b"x" * 100_000, "stale or damaged"),
        (pack(b"another shard"), "stale or damaged"),
        (pack(b"x" * 70_000_000), "cut short"),
    ],
    ids=["html", "lfs", "json", "empty", "noise", "stale", "bomb"],
)
async def test_a_shard_that_is_another_is_named(index: Folder, kind: str, content: bytes, words: str) -> None:
    name = index.name(kind)
    index.files[name] = content
    error = await index.refused()
    assert name in error.message and words in error.message
    assert error.code == "damaged"


@pytest.mark.parametrize("kind", ["directory", "terms", "texts", "typos"])
async def test_a_shard_that_is_cut_or_changed_is_named_wherever_it_is(index: Folder, kind: str) -> None:
    name = index.name(kind)
    whole = index.files[name]
    for at in range(0, len(whole), max(1, len(whole) // 40)):
        for broken in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]):
            index.files[name] = broken
            try:
                await (await open_index(index.files["manifest.json"], index.fetch)).search("words wrods")
            except SearchIndexError as error:
                assert name in error.message
                assert error.code == "damaged"
            else:
                # Only the time stamp and the like of the packing may differ: the content was checked.
                assert gzip.decompress(broken) == gzip.decompress(whole)


async def test_a_host_that_unpacks_on_the_way_is_no_damage(index: Folder) -> None:
    index.files = {
        name: data if name == "manifest.json" else gzip.decompress(data) for name, data in index.files.items()
    }
    found = await (await open_index(index.files["manifest.json"], index.fetch)).search("words")
    assert found.hits[0].passage.page == "a.html"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((CASES / "R07.fallback.html").read_bytes(), "an HTML page"),
        ((CASES / "R07.lfs.txt").read_bytes(), "a Git LFS pointer"),
        (b'{"error":"restricted"}', "format: Field required"),
        (b"[]", "not the manifest"),
        (b"", "empty"),
        (b"\xff\xfe\x00", "other data"),
    ],
)
def test_a_manifest_that_is_something_else_is_named(data: bytes, words: str) -> None:
    with pytest.raises(SearchIndexError, match=words) as caught:
        parse_manifest(data, "https://docs.example/index/manifest.json")
    assert "Unexpected token" not in str(caught.value)


@pytest.mark.parametrize("name", ["../secret.bin", "https://other.example/directory-000000000000.bin", "a.bin"])
async def test_a_manifest_cannot_name_files_outside_of_its_folder(index: Folder, name: str) -> None:
    index.manifest = {**index.manifest, "directory": name}
    assert (await index.refused()).code == "damaged"
    assert index.fetched == []


async def test_a_missing_shard_is_named(index: Folder) -> None:
    name = index.name("texts")
    del index.files[name]
    error = await index.refused()
    assert (error.code, name in error.message) == ("missing", True)


async def test_another_format_and_another_tokenizer_are_told_apart_from_damage(index: Folder) -> None:
    given = index.manifest
    for change in ({"format": FORMAT + 1}, {"format": FORMAT - 1}, {"tokenizer": "other-9"}):
        index.manifest = {**given, **change}
        assert (await index.refused()).code == "format"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("terms", b""),
        ("terms", b"\x01\x00\x00\x00\x05\x00\x00\x00"),
        ("texts", b"{}"),
        ("texts", b'{"pages":[],"rows":[[0,"",[],"words"]]}'),
        ("texts", b'{"pages":[["a","b","c",0,1]],"rows":[]}'),
        ("typos", b"a line without its parts"),
        ("directory", b"{}"),
        ("directory", b"[1]"),
    ],
)
async def test_content_that_fits_its_name_and_is_wrong_is_still_an_error(
    index: Folder, kind: str, content: bytes
) -> None:
    index.replace(kind, content)
    error = await index.refused()
    assert error.code == "damaged"
    assert index.name(kind) in error.message


async def test_a_word_that_names_a_passage_beyond_the_last_is_an_error(index: Folder) -> None:
    index.replace("terms", encode_shard([("word", 100, encode(Postings([9], b"\xff")))]))
    error = await index.refused()
    assert error.code == "damaged"
    assert "names passage p10, which is not there" in error.message


async def test_searching_gives_the_event_loop_its_turn(index: Folder) -> None:
    breaths = 0

    async def breathe() -> None:
        nonlocal breaths
        breaths += 1

    searcher = await open_index(index.files["manifest.json"], index.fetch, breathe=breathe)
    await searcher.search("some words")
    assert breaths >= 2


async def test_a_shard_is_fetched_once_and_a_failed_one_again(index: Folder) -> None:
    name = index.name("texts")
    whole = index.files.pop(name)
    searcher = await open_index(index.files["manifest.json"], index.fetch)
    for _ in range(2):
        with pytest.raises(SearchIndexError, match="is not there"):
            await searcher.search("words")
    index.files[name] = whole
    await searcher.search("words")
    await searcher.search("words")
    assert index.fetched.count(name) == 3
    assert index.fetched.count(index.name("terms")) == 1
