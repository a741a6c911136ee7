"""The command line: what it says, and that bad input gets one clear line and exit status 1."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from py_agent.cli import main
from py_agent.trace.lines import decode
from tests import sse_server as sse
from tests.sites import html_page, make_site

PAGES = {
    "index.html": html_page("Lantern", "Lantern builds documentation sites from Markdown files."),
    "guide/caching.html": "<html><head><title>Caching — Lantern docs</title></head><main><h1>Caching</h1>"
    "<h2 id=ttl>Time to live</h2><p>Set <code>cache.ttl</code> to the number of seconds that a page is kept in the"
    " cache. The default is 60 seconds.</p></main></html>",
    "empty.html": "<main></main>",
}


def run(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return make_site(tmp_path / "site", PAGES)


@pytest.fixture
def index(site: Path, tmp_path: Path) -> Path:
    assert run("index", site, "--out", tmp_path / "index").exit_code == 0
    return tmp_path / "index"


def test_index_tells_what_was_done_and_what_was_skipped(site: Path, tmp_path: Path) -> None:
    result = run("index", site, "--out", tmp_path / "out", "--title", "Lantern", "--base-url", "/docs/")
    assert result.exit_code == 0
    assert "skipped: empty.html: no text was found in it" in result.output
    assert "Indexed 2 pages, 2 passages of 'Lantern'" in result.output
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert {key: manifest[key] for key in ("format", "title", "base_url", "language", "pages", "passages")} == {
        "format": 2,
        "title": "Lantern",
        "base_url": "/docs/",
        "language": "en",
        "pages": 2,
        "passages": 2,
    }


def test_the_same_site_gives_the_same_index_and_an_old_one_is_replaced(site: Path, index: Path) -> None:
    before = {file.name: file.read_bytes() for file in index.iterdir()}
    run("index", site, "--out", index)
    assert {file.name: file.read_bytes() for file in index.iterdir()} == before
    make_site(site, {"more.html": html_page("More", "Other words.")})
    run("index", site, "--out", index)
    after = {file.name for file in index.iterdir()}
    assert before.keys() != after
    run("index", site, "--out", index.parent / "fresh")
    assert after == {file.name for file in (index.parent / "fresh").iterdir()}


def test_synonyms_are_searched_along(site: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("expiry => ttl\n", encoding="utf-8")
    assert run("index", site, "--out", tmp_path / "out", "--synonyms", tmp_path / "words.txt").exit_code == 0
    found = json.loads(run("search", tmp_path / "out", "expiry", "--json").output)
    assert [hit["url"] for hit in found["hits"]] == ["guide/caching.html#ttl"]


def test_search_explains_its_order(index: Path) -> None:
    shown = run("search", index, "cache ttl", "--explain").output
    assert "ttl -> ttl: rarity" in shown
    found = json.loads(run("search", index, "cache ttl", "--explain", "--json").output)
    assert {share["word"] for share in found["hits"][0]["explanation"]["terms"]} == {"cache", "ttl"}


def test_a_batch_goes_to_the_index_that_each_question_names(index: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked.jsonl"
    asked.write_text('{"id": "a", "question": "ttl", "corpus": "index"}\n', encoding="utf-8")
    [row] = [json.loads(line) for line in run("search", index.parent, "--batch", asked).output.splitlines()]
    assert (row["id"], row["hits"][0]["url"]) == ("a", "guide/caching.html#ttl")
    asked.write_text('{"id": "a", "question": "ttl"}\n', encoding="utf-8")
    refused = run("search", index.parent, "--batch", asked)
    assert refused.exit_code == 1
    assert "names no `corpus`" in refused.output


def test_search_prints_addresses_and_json(index: Path) -> None:
    shown = run("search", index, "cache ttl")
    assert "guide/caching.html#ttl" in shown.output and "Time to live" in shown.output
    found = json.loads(run("search", index, "cache.ttl", "--json", "--top", 1).output)
    assert [hit["url"] for hit in found["hits"]] == ["guide/caching.html#ttl"]
    assert "in none of these: Kubernetes" in run("search", index, "Kubernetes").output


def test_search_answers_a_batch_line_by_line(index: Path, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": "a", "question": "cache"}\n\n{"id": 2, "question": "nothing"}\n')
    rows = [json.loads(line) for line in run("search", index, "--batch", tmp_path / "q.jsonl").output.splitlines()]
    assert [row["id"] for row in rows] == ["a", 2]


def test_ask_answers_with_a_checked_citation_and_traces_every_event(index: Path, tmp_path: Path) -> None:
    result = run("ask", index, "How long is a page kept in the cache?", "--json", "--trace", tmp_path / "trace.jsonl")
    end = json.loads(result.output)
    assert end["status"] == "answered"
    assert end["sources"][0]["url"] == "guide/caching.html#ttl"
    lines = decode((tmp_path / "trace.jsonl").read_bytes())
    events = [line["event"] for line in lines if line["k"] == "event"]
    assert [events[0]["type"], events[-1]["type"]] == ["turn_start", "turn_end"]
    assert any(event["type"] == "request_start" and "cache.ttl" in event["prompt"] for event in events)


def test_a_trace_is_replayed_and_a_changed_one_departs(index: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    run("ask", index, "How long is a page kept in the cache?", "--trace", trace)
    same = run("replay", trace)
    assert (same.exit_code, "events came again" in same.output) == (0, True)
    assert json.loads(run("replay", trace, "--json").output)["departure"] is None
    trace.write_text(trace.read_text().replace("How long is a page kept", "How long is a page stored", 1))
    changed = run("replay", trace)
    assert changed.exit_code == 1
    assert "stored" in changed.output
    assert run("replay", tmp_path / "missing.jsonl").exit_code == 1


def test_ask_says_honestly_that_the_docs_do_not_answer(index: Path) -> None:
    end = json.loads(run("ask", index, "How do I deploy to Kubernetes?", "--json").output)
    assert (end["status"], end["sources"]) == ("abstained", [])


def test_ask_keeps_the_conversation_where_it_is_told_to(index: Path, tmp_path: Path) -> None:
    assert run("ask", index, "What is the cache?", "--db", tmp_path / "threads.db").exit_code == 0
    assert (tmp_path / "threads.db").stat().st_size > 0


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    folder = tmp_path / "dist" / "agent"
    (folder / "assets").mkdir(parents=True)
    (folder / "py-agent.js").write_text("// launcher")
    (folder / "assets" / "widget-1.js").write_text("")
    return folder


def test_build_puts_the_agent_and_its_index_beside_the_pages(site: Path, agent: Path) -> None:
    result = run("build", site, "--agent", agent)
    assert result.exit_code == 0
    assert '<script src="/agent/py-agent.js" data-index="/agent/index/manifest.json"' in result.output
    assert (site / "agent" / "assets" / "widget-1.js").is_file()
    (agent / "assets" / "widget-1.js").rename(agent / "assets" / "widget-2.js")
    assert run("build", site, "--agent", agent).exit_code == 0
    assert [file.name for file in (site / "agent" / "assets").iterdir()] == ["widget-2.js"]
    assert json.loads((site / "agent" / "index" / "manifest.json").read_text())["pages"] == 2


def test_build_with_out_leaves_the_site_as_it_is(site: Path, agent: Path, tmp_path: Path) -> None:
    before = sorted(site.rglob("*"))
    assert run("build", site, "--agent", agent, "--out", tmp_path / "copy").exit_code == 0
    assert sorted(site.rglob("*")) == before
    assert (tmp_path / "copy" / "guide" / "caching.html").is_file()
    assert (tmp_path / "copy" / "agent" / "index" / "manifest.json").is_file()


def test_serve_puts_the_tag_into_pages_on_their_way_out(site: Path, agent: Path) -> None:
    command = [sys.executable, "-u", "-m", "py_agent.cli", "serve", str(site), "--agent", str(agent), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[0]
            page = urllib.request.urlopen(url + "guide/caching.html", timeout=10).read()
            manifest = urllib.request.urlopen(url + "agent/index/manifest.json", timeout=10).read()
        finally:
            server.terminate()
    assert b'<script src="/agent/py-agent.js"' in page
    assert json.loads(manifest)["pages"] == 2
    assert b"py-agent.js" not in (site / "guide" / "caching.html").read_bytes()


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_bad_input_is_one_line_with_its_cure(site: Path, index: Path, agent: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    file = write(tmp_path / "file", "x")
    foreign = make_site(tmp_path / "foreign", {"a.html": html_page("A", "b"), "agent/x.html": html_page("X", "y")})
    cases: list[tuple[list[object], str]] = [
        (["index", tmp_path / "no", "--out", tmp_path / "o"], "does not exist"),
        (["index", tmp_path / "none", "--out", tmp_path / "o"], "holds no .html, .md, .mdx or .rst file"),
        (["index", site, "--out", tmp_path / "o", "--rules", tmp_path / "no.toml"], "cannot be read"),
        (["index", site, "--out", tmp_path / "o", "--facet", "latest"], "is not NAME=VALUE"),
        (["index", site, "--out", tmp_path / "o", "--facet", "version=9"], "facet 'version'"),
        (["index", site, "--out", tmp_path / "o", "--cache", tmp_path / "c", "--no-cache"], "exclude each other"),
        (["index", file, "--out", tmp_path / "o"], "is a file, not a folder"),
        (["index", site, "--out", file], "is a file"),
        (["index", site, "--out", file / "below"], "cannot be written"),
        (["index", site, "--out", site], "is the site itself"),
        (["index", site, "--out", site / "guide"], "lies among the pages"),
        (["search", tmp_path / "no", "x"], "holds no index"),
        (["search", site, "x"], "holds no index"),
        (["search", index, "--batch", tmp_path / "no"], "cannot be read"),
        (["search", index, "--batch", write(tmp_path / "bad.jsonl", "{}\n")], "line 1"),
        (["ask", index, "  "], "question is empty"),
        (["ask", index, "cache", "--trace", tmp_path / "no" / "t"], "cannot be written"),
        (["ask", index, "cache", "--db", tmp_path / "no" / "db"], "folder exists"),
        (["build", site, "--agent", tmp_path], "no built agent"),
        (["build", site, "--agent", agent, "--out", site / "below"], "lie in each other"),
        (["build", foreign, "--agent", agent], "already there"),
        (["serve", tmp_path / "no"], "does not exist"),
        (["eval", "answers", file, file], "line 1"),
        (["eval", "answers", write(tmp_path / "q", '{"id": 1, "question": "x"}'), file], "no answers"),
    ]
    for args, words in cases:
        result = run(*args)
        assert (result.exit_code, words in result.output) == (1, True), (args, result.output, result.exception)
        errors = [line for line in result.output.splitlines() if line.startswith("Error:")]
        assert len(errors) == 1 and len(errors[0]) > len(words) + 20, (args, result.output)
        assert isinstance(result.exception, SystemExit)


def test_a_damaged_index_is_named(index: Path) -> None:
    terms = next(index.glob("terms-*"))
    terms.write_text("<!doctype html><title>Not found</title>")
    result = run("search", index, "cache")
    assert result.exit_code == 1
    assert f"{terms.name} is an HTML page" in result.output


def test_a_file_that_cannot_be_read_is_reported(site: Path, tmp_path: Path) -> None:
    (site / "loop.html").symlink_to("loop.html")  # unreadable for root too, who may read every real file
    output = run("index", site, "--out", tmp_path / "out").output
    assert "skipped: loop.html: cannot be read" in output


def test_ask_asks_a_model_behind_an_endpoint(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = {"index": 0, "function": {"name": "say_i_dont_know", "arguments": '{"reason": "Not there."}'}}
    answer = sse.raw((sse.event({"tool_calls": [end]}) + sse.event({}, "tool_calls")).encode())
    remote = ("--engine", "openai", "--base-url")
    with sse.SseServer(answer) as server:
        result = run("ask", index, "What is the cache?", *remote, server.url, "--json")
        assert json.loads(result.output)["status"] == "abstained"
        assert server.asked[-1]["messages"][-1]["content"].startswith("[reader ")
        monkeypatch.setenv("PY_AGENT_API_KEY", " k3y\n")
        result = run("ask", index, "What?", *remote, server.url)
        assert server.headers[-1]["authorization"] == "Bearer k3y", result.output
        monkeypatch.setenv("PY_AGENT_API_KEY", "k3y\nx")
        result = run("ask", index, "What?", *remote, server.url)
        assert (result.exit_code, "k3y" in result.output, "alone" in result.output) == (1, False, True)
    missing = run("ask", index, "What is the cache?", "--engine", "openai")
    assert (missing.exit_code, "--base-url" in missing.output) == (1, True)
    monkeypatch.delenv("PY_AGENT_API_KEY")
    nobody = run("ask", index, "What is the cache?", "--engine", "openai", "--base-url", "http://127.0.0.1:9/v1")
    assert (nobody.exit_code, "127.0.0.1:9" in nobody.output) == (1, True)
