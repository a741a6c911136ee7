"""What a query finds first, in a real index on disk."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from py_agent.model.passage import MAX_PASSAGE_CHARS
from py_agent.search import IndexSearcher
from py_agent.site.index import write_index
from py_agent.site.load import load_index
from tests.sites import CASES, case, html_page, make_site, open_site, read


async def index_of(tmp_path: Path, pages: Mapping[str, str | Path]) -> IndexSearcher:
    return await open_site(make_site(tmp_path / "site", pages), tmp_path / "index")


async def first(searcher: IndexSearcher, query: str) -> str:
    result = await searcher.search(query)
    return f"/{result.hits[0].passage.url.partition('#')[0]}" if result.hits else "nothing"


@pytest.mark.parametrize("name", ["D07", "D09"])
async def test_names_and_all_scripts_find_their_page_first(tmp_path: Path, name: str) -> None:
    given = case(name)
    searcher = await index_of(
        tmp_path, {page["url"]: html_page(page["title"], page["text"]) for page in given["pages"]}
    )
    found = {query["q"]: await first(searcher, query["q"]) for query in given["queries"]}
    assert found == {query["q"]: query["top1"] for query in given["queries"]}


@pytest.fixture
async def with_changelog(tmp_path: Path) -> IndexSearcher:
    given = case("D15")
    pages: dict[str, str | Path] = {
        page: CASES / file for page, file in given["files"].items() if not file.endswith(".html")
    }
    pages["/blob/"] = f"<main><h1>Blob</h1><p>{'A' * 200_000}</p><p>tail text</p></main>"
    return await index_of(tmp_path, pages)


async def test_a_huge_changelog_does_not_bury_the_pages(with_changelog: IndexSearcher) -> None:
    for query in case("D15")["queries"]:
        assert await first(with_changelog, query["q"]) == query.get("top1", query.get("top1_page"))
    for word in ("install", "cache"):
        result = await with_changelog.search(word)
        assert sum(hit.passage.page.startswith("changelog") for hit in result.hits) <= 2


async def test_a_huge_changelog_an_empty_page_and_an_endless_line_stay_within_their_limits(tmp_path: Path) -> None:
    given = case("D15")
    pages: dict[str, str | Path] = {
        page: CASES / file for page, file in given["files"].items() if not file.endswith(".html")
    }
    pages["/blob/"] = f"<main><h1>Blob</h1><p>{'A' * 200_000}</p><p>tail text</p></main>"
    root = make_site(tmp_path / "site", pages)
    start = time.monotonic()
    site = read(root)
    write_index(site.pages, tmp_path / "index")
    assert time.monotonic() - start <= given["limits"]["build_seconds"]
    assert sum(file.stat().st_size for file in (tmp_path / "index").iterdir()) <= given["limits"]["index_bytes_max"]
    assert {page.page.split("/")[0] for page in site.pages} == {"changelog", "install", "blob"}
    assert {one.file.split("/")[0]: one.kind for one in site.skipped} == {"empty": "empty", "soon": "empty"}
    assert max(len(piece.text) for page in site.pages for piece in page.pieces) <= MAX_PASSAGE_CHARS


async def test_one_result_an_address(tmp_path: Path) -> None:
    long = "Caching is explained in many sentences here. " * 120
    searcher = await index_of(tmp_path, {"a.html": html_page("Caching", long), "b.html": html_page("Other", "caching")})
    urls = [hit.passage.url for hit in (await searcher.search("caching")).hits]
    assert sorted(urls) == ["a.html", "b.html"]
    assert len(await searcher.page("a.html")) > 1


async def test_typos_are_repaired_only_where_the_index_lacks_the_word(tmp_path: Path) -> None:
    searcher = await index_of(
        tmp_path, {"a.html": html_page("Blueprints", "Register the blueprint with a range of options and pick one.")}
    )
    result = await searcher.search("regsiter bluprint rnage")
    assert result.repaired == {"regsiter": "register", "bluprint": "blueprint", "rnage": "range"}
    assert result.hits and result.missing == ()
    assert (await searcher.search("range")).repaired == {}
    # An unknown name is not bent into a known word.
    assert (await searcher.search("use it with Pikc or Rango?")).repaired == {"pikc": "pick", "rango": "range"}
    assert (await searcher.search("is it with Optuna")).missing == ("Optuna",)


async def test_an_unknown_name_may_differ_by_one_letter_only(tmp_path: Path) -> None:
    searcher = await index_of(tmp_path, {"a.html": html_page("A", "We looked at the registry and its locking.")})
    assert (await searcher.search("is it in regsitri")).repaired == {"regsitri": "registry"}
    assert (await searcher.search("is it in Regsitri")).repaired == {}


async def test_release_notes_weigh_less_than_a_page_that_says_the_same(tmp_path: Path) -> None:
    notes = html_page("Changelog", "Added retries. Retries were fixed. Retries retries.")
    searcher = await index_of(tmp_path, {"changelog.html": notes, "net.html": html_page("Network", "It retries once.")})
    assert await first(searcher, "retries") == "/net.html"


async def test_words_that_no_hit_holds_are_told(tmp_path: Path) -> None:
    searcher = await index_of(tmp_path, {"a.html": html_page("Build", "The build runs on every commit.")})
    result = await searcher.search("How does Jenkins build every commit?")
    assert [hit.passage.page for hit in result.hits] == ["a.html"]
    assert result.missing == ("Jenkins",)
    nothing = await searcher.search("Kubernetes?")
    assert (nothing.hits, nothing.missing) == ((), ("Kubernetes",))


@pytest.mark.parametrize("query", ["", "?!", "the", '"', "a" * 10_000, "[{(\\", "\ud800", "\x00 build"])
async def test_no_query_raises(tmp_path: Path, query: str) -> None:
    searcher = await index_of(tmp_path, {"a.html": html_page("Build", "The build.")})
    await searcher.search(query)


async def test_passages_are_found_by_id_and_by_page(tmp_path: Path) -> None:
    searcher = await index_of(tmp_path, {f"{name}.html": html_page(name, f"Text {name}.") for name in "abc"})
    [passage] = await searcher.page("b.html")
    assert await searcher.passage(passage.id) == passage
    assert passage.text == "Text b."
    assert await searcher.page("no.html") == ()
    for wrong in ("p0", "p4", "p01", "x1", "p", "", "p-1", "p²"):
        with pytest.raises(KeyError):
            await searcher.passage(wrong)


async def test_a_synonym_finds_what_its_word_does_not_say_and_weighs_less(tmp_path: Path) -> None:
    pages = {"a.html": html_page("A", "Hang the photo."), "b.html": html_page("B", "Hang the picture.")}
    write_index(read(make_site(tmp_path / "site", pages)).pages, tmp_path / "index", synonyms={"Picture": ["photo"]})
    searcher = await load_index(tmp_path / "index")
    found = await searcher.search("pictures")
    assert [hit.passage.page for hit in found.hits] == ["b.html", "a.html"]
    assert found.missing == ()
    assert [hit.passage.page for hit in (await searcher.search("photo")).hits] == ["a.html"]


async def test_an_unfinished_word_finds_what_it_may_become(tmp_path: Path) -> None:
    searcher = await index_of(tmp_path, {"a.html": html_page("A", "Deploy it."), "b.html": html_page("B", "Other.")})
    assert (await searcher.search("how to depl")).hits == ()
    assert [hit.passage.page for hit in (await searcher.search("how to depl", unfinished=True)).hits] == ["a.html"]
    assert (await searcher.search("depl it", unfinished=True)).hits == ()


async def test_an_explanation_adds_up_to_the_score(tmp_path: Path) -> None:
    pages = {"a.html": html_page("Deploy", "Deploy the site to a host."), "b.html": html_page("Hosts", "A host.")}
    searcher = await index_of(tmp_path, pages)
    first, second = (await searcher.search("deploy to Kubernetes hosts")).hits
    reasons = [await searcher.explain("deploy to Kubernetes hosts", hit.passage.id) for hit in (first, second)]
    assert reasons[0].points == sum(share.points for share in reasons[0].terms)
    assert reasons[1].score / reasons[0].score == pytest.approx(second.score / first.score, abs=0.01)
    assert (reasons[0].words, reasons[0].meaning) == (1.0, 0.0)
    assert reasons[0].missing == ("Kubernetes",)
    assert {share.term for share in reasons[0].terms if share.heading} == {"deploy"}
    with pytest.raises(KeyError):
        await searcher.explain("deploy", "p99")
