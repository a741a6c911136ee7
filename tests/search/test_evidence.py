"""How sure one may be of what was found: by the rarest word of the question that the best passage lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.search import IndexSearcher
from py_agent.search.evidence import LEAST_SURE
from tests.sites import html_page, make_site, open_site

pytestmark = pytest.mark.cpython  # indexes are built here


@pytest.fixture
async def searcher(tmp_path: Path) -> IndexSearcher:
    pages = {f"p{n}": html_page(f"Page {n}", f"Prices of hosting plan number {n}, by the month.") for n in range(20)}
    pages["tax"] = html_page("Tax", "Prices include value-added tax: see the invoice.")
    pages["setTimeout"] = html_page("Timers", "Call setTimeout to run code later.")
    pages["cjk"] = html_page("設定", "設定ファイルの場所を変更する")
    return await open_site(make_site(tmp_path / "site", pages), tmp_path / "index")


async def sure(searcher: IndexSearcher, query: str) -> float:
    hits = (await searcher.search(query)).hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return hits[0].score


async def test_a_rare_word_that_is_lacking_costs_more_than_a_common_one(searcher: IndexSearcher) -> None:
    whole = await sure(searcher, "prices with value-added tax")
    common = await sure(searcher, "hosting with value-added tax")
    unknown = await sure(searcher, "prices of Kubernetes")
    assert 1 == whole > common > unknown == pytest.approx(LEAST_SURE)


async def test_scores_order_the_hits_of_a_question_that_is_not_answered(searcher: IndexSearcher) -> None:
    hits = (await searcher.search("Kubernetes prices tax", 5)).hits
    assert hits[0].passage.page == "tax/index.html" and hits[0].score > hits[1].score > 0


async def test_a_name_is_held_as_a_whole_or_by_its_parts(searcher: IndexSearcher) -> None:
    assert await sure(searcher, "setTimeout") == 1
    assert await sure(searcher, "set timeout of code") > await sure(searcher, "setInterval")
    assert (await searcher.search("setInterval")).missing == ()


async def test_a_typo_that_was_read_right_costs_nothing(searcher: IndexSearcher) -> None:
    assert await sure(searcher, "invoyce") == 1


async def test_one_pair_of_signs_that_is_lacking_is_not_the_whole_question(searcher: IndexSearcher) -> None:
    assert LEAST_SURE < await sure(searcher, "設定はどこ") < 1 == await sure(searcher, "設定")


async def test_nothing_found_is_no_hit(searcher: IndexSearcher) -> None:
    assert (await searcher.search("zzz")).hits == ()
