"""The made-up site and what is measured on it, small."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import big_site
from benchmarks._big_pages import SECTIONS, big_page, file_of, html_of, questions, write_site
from py_agent.model.errors import AgentError
from py_agent.search.stopwords import STOP_WORDS
from py_agent.site.door import bench
from py_agent.site.read import find_files, read_site
from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.cpython  # processes, files, a browser


def test_a_page_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    assert html_of(big_page(7, 4), 7, 10) == html_of(big_page(7, 4), 7, 10)
    assert big_page(7, 4) != big_page(7, 5) != big_page(8, 5)


def test_the_files_are_read_as_the_pages_that_were_drawn(tmp_path: Path) -> None:
    written = write_site(tmp_path, 12, seed=4, processes=1)
    assert written == sum(file.stat().st_size for file in tmp_path.rglob("*.html"))
    site = read_site(tmp_path, find_files(tmp_path))
    assert [page.page for page in site.pages] == [file_of(number) for number in range(12)]
    for number, page in enumerate(site.pages):
        drawn = big_page(number, 4)
        assert page.title == drawn.title
        assert len(page.pieces) == SECTIONS
        assert [piece.anchor for piece in page.pieces] == [section.anchor for section in drawn.sections]
        assert sum(len(piece.text.split()) for piece in page.pieces) >= 400
        assert not any("Made by a program" in piece.text or "Page 3" in piece.text for piece in page.pieces)


def test_words_follow_zipfs_law() -> None:
    texts = [text for number in range(300) for one in big_page(number, 4).sections for text in one.paragraphs]
    counted = Counter(word.strip(".").lower() for text in texts for word in text.split())
    ranked = [count for _, count in counted.most_common()]
    # One tenth of the frequency at ten times the rank, give or take what chance does.
    for rank in (3, 10, 30):
        assert 0.6 < ranked[rank - 1] / ranked[10 * rank - 1] / 10 < 1.6
    assert len(ranked) > 30_000
    assert counted.most_common(1)[0][0] in STOP_WORDS


def test_questions_are_of_the_site_and_some_are_misspelt() -> None:
    asked = questions(50, seed=4, count=40)
    assert asked == questions(50, seed=4, count=40)
    text = "\n".join(html_of(big_page(number, 4), number, 50) for number in range(50))
    known = sum(query in text for query in asked)
    assert 28 <= known < 40


def test_the_memory_of_children_counts() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', {!r}])"
    child = "held = bytearray(b'x' * 200_000_000); print(len(held), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code.format(child)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        assert 200_000_000 < big_site.memory_of(running.pid) < 400_000_000
        running.communicate(b"\n")
    assert big_site.memory_of(running.pid) == 0


def test_an_index_that_cannot_be_built_is_told_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="does not exist"):
        big_site.build_index(ROOT, tmp_path / "nowhere", tmp_path / "index")


def test_what_was_made_is_removed_even_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="does not exist"):
        big_site.measure(ROOT, 0, folder=tmp_path / "big")
    assert not (tmp_path / "big").exists()


@pytest.mark.browser
def test_a_small_site_is_made_indexed_and_asked_in_the_page(tmp_path: Path) -> None:
    figures = big_site.measure(ROOT, 40, folder=tmp_path, keep=True, python=False)
    value = {name: float(str(figure["value"])) for name, figure in figures.items()}
    assert all(figure["ok"] for figure in figures.values()), figures
    assert value["pages"] == 40 and value["passages"] == 40 * SECTIONS
    assert 5_000 < value["terms"] < 60_000
    assert 0.06 < value["build_peak_gb"] < 1
    # Manifest, directory, a term shard and a text shard at least: and never nothing, as from the browser's cache.
    assert value["first_result_requests"] >= 4
    assert value["directory_kb"] / 1e3 < value["first_result_median_mb"] <= value["first_result_most_mb"] < 0.3
    assert value["later_result_median_kb"] / 1e3 < value["first_result_median_mb"]
    every_byte_is_counted(tmp_path)


def every_byte_is_counted(folder: Path) -> None:
    mounts = {"/index": folder / "index", "/web": ROOT / "web"}
    with SiteServer(folder / "blank", mounts=mounts) as server, open_chromium() as browser:
        for query in questions(40, big_site.SEED, 3):
            server.requests.clear()
            asked = big_site.ask_from_nothing(browser, server, query)
            names = [request.path for request in server.requests if request.path.startswith("/index/")]
            assert asked.requests == len(names) == len(set(names))
            assert asked.size == sum((folder / name.lstrip("/")).stat().st_size for name in names)
            assert asked.hits


BENCH = "def main(root):\n    return {'a': {'value': 1, 'unit': 's', 'target': '<= 2', 'ok': True}}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two benches, and a Python that has imported none."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "_part.py").touch()
    (folder / "quick.py").write_text(BENCH)
    (folder / "slow_one.py").write_text(f"ON_REQUEST = True\n{BENCH}")
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in [one for one in sys.modules if one.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, module)
    return tmp_path


def test_a_bench_is_known_by_its_name_with_a_hyphen(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = bench.measured(project, bench.named(project, "slow-one"), {})
    assert [(one["name"], one["figures"]["a"]["value"]) for one in results] == [("slow-one", 1)]
    assert "slow-one" in capsys.readouterr().out


def test_a_bench_on_request_is_left_out_where_all_run(project: Path) -> None:
    assert list(bench.named(project, None)) == ["quick"]


def test_an_unknown_bench_is_answered_with_those_there_are() -> None:
    with pytest.raises(AgentError) as caught:
        bench.named(ROOT, "large-site")
    assert "big-site" in caught.value.hint
