"""An index that is missing, cut, mixed up, or something else entirely."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from py_agent.model.errors import SearchIndexError
from py_agent.search import open_index
from py_agent.search.files import FORMAT, parse_manifest
from tests.sites import CASES, html_page, make_site, open_site

Index = tuple[dict[str, Any], dict[str, bytes]]


@pytest.fixture
async def index(tmp_path: Path) -> Index:
    await open_site(make_site(tmp_path / "site", {"a.html": html_page("A", "Some words.")}), tmp_path / "index")
    manifest = json.loads((tmp_path / "index" / "manifest.json").read_text())
    return manifest, {
        file["path"]: (tmp_path / "index" / file["path"]).read_bytes() for file in manifest["files"].values()
    }


async def refused(manifest: dict[str, Any], files: dict[str, bytes]) -> SearchIndexError:
    with pytest.raises(SearchIndexError) as caught:
        await (await open_index(manifest, files)).search("words")
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("name", ["terms", "passages"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ((CASES / "R07.fallback.html").read_bytes(), "an HTML page"),
        ((CASES / "R07.lfs.txt").read_bytes(), "a Git LFS pointer"),
        (b"", "empty"),
        (None, "cut short"),
        (b"x" * 100_000, "does not match its manifest"),
    ],
)
async def test_a_file_that_is_another_is_named(index: Index, name: str, content: bytes | None, words: str) -> None:
    manifest, files = index
    path = manifest["files"][name]["path"]
    files[path] = files[path][:-5] if content is None else content
    error = await refused(manifest, files)
    assert path in error.message and words in error.message
    assert error.code == "damaged"


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


async def test_a_missing_file_is_named(index: Index) -> None:
    manifest, files = index
    path = manifest["files"]["passages"]["path"]
    del files[path]
    error = await refused(manifest, files)
    assert (error.code, path in error.message) == ("missing", True)


async def test_a_newer_format_and_another_tokenizer_are_told_apart_from_damage(index: Index) -> None:
    manifest, files = index
    newer = await refused({**manifest, "format": FORMAT + 1}, files)
    other = await refused({**manifest, "tokenizer": "other-9"}, files)
    assert (newer.code, other.code) == ("format", "format")


async def test_lines_that_are_damaged_with_a_matching_checksum_are_still_an_error(index: Index) -> None:
    manifest, files = index
    path = manifest["files"]["terms"]["path"]
    files[path] = files[path].replace(b'["word",[0,', b'["word",[9,')
    manifest["files"]["terms"]["sha256"] = hashlib.sha256(files[path]).hexdigest()
    error = await refused(manifest, files)
    assert error.code == "damaged"


async def test_opening_gives_the_event_loop_its_turn(index: Index) -> None:
    breaths = 0

    async def breathe() -> None:
        nonlocal breaths
        breaths += 1

    manifest, files = index
    searcher = await open_index(manifest, files, breathe=breathe)
    opened = breaths
    await searcher.search("some words")
    assert opened >= 2
    assert breaths > opened
