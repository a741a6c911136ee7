"""The page's JavaScript search finds what the Python one finds, in the same order, with the same scores."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from py_agent.search.fold import Fold, to_json
from py_agent.site.index import write_index
from py_agent.site.load import load_index
from tests.sites import CASES, case, html_page, make_site, meaning, read

ROOT = Path(__file__).resolve().parents[2]
TWIN = ROOT / "tests" / "fixtures" / "web" / "search_twin.mjs"

pytestmark = pytest.mark.cpython  # Node runs beside it


def twin(index: Path, queries: list[tuple[str, bool]]) -> list[dict[str, Any]]:
    asked = json.dumps([{"query": query, "unfinished": unfinished} for query, unfinished in queries])
    done = subprocess.run(
        ["node", str(TWIN), str(index)], input=asked.encode(), capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


async def compare(index: Path, queries: list[tuple[str, bool]]) -> int:
    """Asks both; returns how many results there were."""
    searcher = await load_index(index)
    found = 0
    for (query, unfinished), theirs in zip(queries, twin(index, queries), strict=True):
        ours = (await searcher.search(query, 5, unfinished=unfinished)).model_dump(mode="json")
        assert theirs == ours, query
        found += len(ours["hits"])
    return found


@pytest.fixture(scope="module", params=[None, meaning], ids=["by words", "by meaning, too"])
def index(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """This project's own documentation and the pages of the cases, in many scripts."""
    root = tmp_path_factory.mktemp("twin")
    # Encoding takes its time: a third of the pages will do.
    files = sorted((ROOT / "docs").glob("*.md"))[:: 3 if request.param else 1]
    pages: dict[str, str | Path] = {f"docs/{file.stem}": file for file in files}
    for name in ("D07", "D09"):
        for page in case(name)["pages"]:
            pages[f"{name}{page['url']}"] = html_page(page["title"], page["text"])
    for name, file in case("D15")["files"].items():
        if (CASES / file).is_file():
            pages[f"D15/{name}"] = CASES / file
    pages["astral"] = html_page(
        "\U0001d6fc and \U00020001\U00020002", "Gothic \U00010330\U00010331 \uffee text \U0001f600 o'clock"
    )
    found = read(make_site(root / "site", pages)).pages
    write_index(found, root / "index", synonyms={"browser": ["chromium"]}, meaning=request.param)
    return root / "index"


async def test_questions_of_the_cases_in_every_script(index: Path) -> None:
    queries = [
        (query["q"], flag)
        for name in ("D07", "D09", "D15")
        for query in case(name)["queries"]
        for flag in (False, True)
    ]
    assert await compare(index, queries) > len(queries)


async def test_sentences_headings_and_beginnings_of_the_docs_themselves(index: Path) -> None:
    searcher = await load_index(index)
    pages = [await searcher.page(page.page) for page in await searcher.pages()]
    passages = [passage for page in pages for passage in page]
    chance = random.Random(4)
    queries: list[tuple[str, bool]] = []
    for passage in chance.sample(passages, 80):
        words = passage.text.split()
        start = chance.randrange(len(words))
        sentence = " ".join(words[start : start + 9])
        queries += [
            (passage.path[-1] if passage.path else passage.title, False),
            (sentence, False),
            (sentence[: 1 + len(sentence) // 2], True),
        ]
    assert await compare(index, queries) > 500


async def test_typos_names_and_noise(index: Path) -> None:
    chance = random.Random(5)
    words = (
        "directory manifest conversation browser installation SESSION_COOKIE setTimeout C++ 1.2.3 Größe 設定 ひらがな"
    )
    queries: list[tuple[str, bool]] = [
        ("", False),
        ("   ", True),
        ("?!", False),
        ("the of and", False),
        ("e\u0301te\u0301 ﬁle ＦＵＬＬ", False),
    ]
    for _ in range(150):
        letters = list(chance.choice(words.split()))
        for _ in range(chance.randrange(3)):
            at = chance.randrange(len(letters) + 1)
            letters[at : at + chance.randrange(2)] = chance.choice(["", "x", "é", "'s", "-", "Q", "\u3099"])
        queries.append(
            (f"where is {''.join(letters)}{chance.choice(['', '?', ' it', '.html'])}", chance.random() < 0.5)
        )
    assert await compare(index, queries) > 100


def test_the_table_in_an_index_folds_as_the_unicode_that_made_it() -> None:
    live = Fold.of_unicode()
    table = Fold.of_table(json.loads(json.dumps(to_json(range(0x400)))))
    for code in range(0x400 << 8):
        text = f"{chr(code)}a"
        if not 0xD800 <= code < 0xE000:
            assert table.fold(text) == live.fold(text), hex(code)
