"""An index with more shards than the directory lists: the same answers, by way of catalogs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from py_agent.model.errors import SearchIndexError
from py_agent.search import IndexSearcher
from py_agent.search.shards import pack, shard_name, unpack
from py_agent.site.index import postings, texts, typos, write, write_index
from py_agent.site.load import load_index
from tests.search.test_twin import compare
from tests.sites import make_site, meaning, read

DOCS = Path(__file__).resolve().parents[2] / "docs"
QUERIES = "which files does an index have|SESSION storage|browsr instalation|conversaton|manifest.json|pri".split("|")


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """This project's documentation in many small shards: listed in the directory, and by catalogs of three."""
    root = tmp_path_factory.mktemp("catalogs")
    site = read(make_site(root / "site", {file.stem: file for file in sorted(DOCS.glob("*.md"))}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "SHARD_BYTES", 1_500)
        patch.setattr(postings, "LONG_BYTES", 60)
        patch.setattr(texts, "MIN_TEXT_BYTES", 2_000)
        patch.setattr(texts, "PAGES_PER_SHARD", 4)
        patch.setattr(typos, "SHARD_BYTES", 3_000)
        write_index(site.pages, root / "flat")
        patch.setattr(write, "FLAT_SHARDS", 0)
        patch.setattr(write, "CATALOG_SHARDS", 3)
        write_index(site.pages, root / "catalogs")
    return root / "flat", root / "catalogs"


async def answers(searcher: IndexSearcher) -> list[object]:
    found: list[object] = [await searcher.search(query, unfinished=query == QUERIES[-1]) for query in QUERIES]
    pages = await searcher.pages()
    return [*found, pages, [await searcher.page(page.page) for page in pages], await searcher.page("zzz")]


async def test_catalogs_change_no_answer(indexes: tuple[Path, Path]) -> None:
    flat, catalogs = indexes
    assert not list(flat.glob("catalogs-*"))
    assert len(list(catalogs.glob("catalogs-*"))) > 20
    assert await answers(await load_index(catalogs)) == await answers(await load_index(flat))


@pytest.mark.cpython
async def test_the_twin_reads_catalogs(indexes: tuple[Path, Path]) -> None:
    asked = [(query, flag) for query in QUERIES for flag in (False, True)]
    assert await compare(indexes[1], asked) > len(asked)


@pytest.mark.cpython
async def test_words_and_codes_come_by_catalogs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = read(make_site(tmp_path / "site", {name: DOCS / f"{name}.md" for name in ("search", "storage", "privacy")}))
    write_index(site.pages, tmp_path / "flat", meaning=meaning)
    monkeypatch.setattr(write, "FLAT_SHARDS", 0)
    monkeypatch.setattr(write, "CATALOG_SHARDS", 3)
    write_index(site.pages, tmp_path / "catalogs", meaning=meaning)
    flat, catalogs = await load_index(tmp_path / "flat"), await load_index(tmp_path / "catalogs")
    for query in QUERIES:
        assert await catalogs.search(query) == await flat.search(query)
    assert await compare(tmp_path / "catalogs", [(query, False) for query in QUERIES]) > len(QUERIES)
    kept = catalogs._shards._kept
    assert any(name.startswith("words-") for name in kept)
    assert any(name.startswith("codes-") for name in kept)


async def test_a_query_loads_few_catalogs(indexes: tuple[Path, Path]) -> None:
    searcher = await load_index(indexes[1])
    loaded = searcher._shards._kept
    await searcher.search("manifest.json", 1)
    assert 0 < sum(name.startswith("catalogs-") for name in loaded) <= 8


async def test_a_catalog_that_does_not_fit_is_named(indexes: tuple[Path, Path], tmp_path: Path) -> None:
    for file in indexes[1].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    directory = next(tmp_path.glob("directory-*"))
    listed = json.loads(unpack(directory.name, directory.read_bytes()))["shards"]["pages"]
    first = shard_name("catalogs", listed["names"][:12])
    other = shard_name("catalogs", listed["names"][-12:])
    (tmp_path / first).write_bytes((tmp_path / other).read_bytes())
    with pytest.raises(SearchIndexError) as caught:
        await answers(await load_index(tmp_path))
    assert caught.value.code == "damaged" and first in str(caught.value)


async def test_a_catalog_shorter_than_it_should_be_is_named(indexes: tuple[Path, Path], tmp_path: Path) -> None:
    for file in indexes[1].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    directory = json.loads(unpack(manifest["directory"], (tmp_path / manifest["directory"]).read_bytes()))
    directory["shards"]["texts"]["count"] -= 1
    content = json.dumps(directory).encode()
    manifest["directory"] = shard_name("directory", write.digest_of(content))
    (tmp_path / manifest["directory"]).write_bytes(pack(content))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SearchIndexError, match="of texts"):
        await answers(await load_index(tmp_path))
