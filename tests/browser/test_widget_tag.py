"""The script tag: wherever a page puts it, whatever stands on it."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.browser.widget_site import FIXTURES, ROOT, Site, Visit, page, tag

pytestmark = pytest.mark.browser

CASES = FIXTURES / "cases"

INIT = "options => { try { PyAgent.init(options); return null } catch (error) { return [error.code, error.message] } }"


@pytest.mark.parametrize(
    ("case", "title"),
    [("head_sync", "Ask Lantern"), ("module", "Ask Lantern"), ("async_body", "Ask Lantern"), ("twice", None), ("spa", None)],
)  # fmt: skip
def test_one_launcher_wherever_the_tag_stands(visit: Visit, site: Site, case: str, title: str | None) -> None:
    html = (CASES / f"P01.{case}.html").read_text("utf-8").replace("<head>", '<head><link rel="icon" href="data:,">')
    widget = visit(site.write("p01.html", html))
    widget.launcher.wait_for()
    widget.open()
    widget.wait_until_ready(20)
    assert widget.root.count() == 1
    assert visit.requested("/docs/index.json") == 1
    if title:
        assert widget.dialog.locator("h1").inner_text() == title
    assert visit.problems == []


def test_in_page_navigation_keeps_the_conversation_and_asks_from_the_new_page(visit: Visit, site: Site) -> None:
    html = (CASES / "P01.spa.html").read_text("utf-8").replace("<head>", '<head><link rel="icon" href="data:,">')
    widget = visit(site.write("spa.html", html))
    widget.ask("What is Lantern?", 20)
    widget.page.evaluate("""() => {
        PyAgent.on("event", (event) => { if (event.type === "turn_start") window.asked = event.page });
    }""")
    widget.page.evaluate("hostNavigate(); hostNavigate()")
    widget.page.wait_for_timeout(300)
    assert widget.root.count() == 1
    assert widget.dialog.is_visible()
    widget.ask("And here?", 20)
    assert len(widget.messages()) == 4
    assert widget.page.evaluate("window.asked").endswith("/second/")
    assert visit.requested("/docs/index.json") == 1
    assert visit.problems == []


def test_nothing_but_the_loader_is_fetched_before_the_first_open(visit: Visit, site: Site) -> None:
    widget = visit(site.write("index.html", page(tag())))
    widget.launcher.wait_for()
    widget.page.wait_for_timeout(300)
    assert visit.requested("/agent/py-agent.js") == 1
    assert visit.requested("/agent/assets/widget.js") == 0
    widget.open()
    widget.wait_until_ready(20)
    assert visit.requested("/agent/assets/session.js") == 1


def test_a_near_miss_on_the_tag_warns_and_foreign_attributes_do_not(visit: Visit, site: Site) -> None:
    body = tag(tilte="x", domain="lantern.example", cfasync="false", turbo_track="reload")
    widget = visit(site.write("near.html", page(body)))
    widget.launcher.wait_for()
    assert len(visit.warnings) == 1
    assert "data-tilte" in visit.warnings[0]
    assert "data-title" in visit.warnings[0]


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ({"engine": "gpt"}, "extractive, litert"),
        ({"engine": "litert"}, "data-model-url"),
        ({"window": "many"}, "whole number from 1024"),
        ({"harness": ""}, "worker, main"),
        ({"model_url": "javascript:1"}, "http or https"),
    ],
)
def test_a_bad_value_on_the_tag_is_an_error_at_the_door(
    visit: Visit, site: Site, attributes: dict[str, str], says: str
) -> None:
    widget = visit(site.write("bad.html", page(tag(**attributes))))
    widget.page.wait_for_timeout(100)
    assert widget.root.count() == 0
    assert len(visit.problems) == 1
    assert says in visit.problems[0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"index": "/docs/index.json", "titel": "x"}, '"title"'),
        ({"index": "/docs/index.json", "model_url": "x"}, '"modelUrl"'),
        ({"title": "x"}, "index"),
        ({"index": 5}, "not text"),
        ([], "object"),
    ],
)
def test_init_refuses_what_it_does_not_know_and_names_the_nearest(
    visit: Visit, site: Site, options: object, says: str
) -> None:
    widget = visit(site.write("init.html", page('<script src="/agent/py-agent.js"></script>')))
    code, message = widget.page.evaluate(INIT, options)
    assert code == "config_error"
    assert says in message
    assert widget.root.count() == 0


def test_a_tag_without_index_waits_for_init_and_destroy_ends_it(visit: Visit, site: Site) -> None:
    widget = visit(site.write("init.html", page('<script src="/agent/py-agent.js"></script>')))
    assert widget.root.count() == 0
    with pytest.raises(PlaywrightError, match="has not been started"):
        widget.page.evaluate("PyAgent.open()")
    assert widget.page.evaluate(INIT, {"index": "/docs/index.json", "title": "First"}) is None
    widget.open()
    widget.wait_until_ready(20)
    code, message = widget.page.evaluate(INIT, {"index": "/docs/index.json", "title": "Second"})
    assert (code, "destroy" in message) == ("config_error", True)
    widget.page.evaluate("PyAgent.destroy()")
    widget.root.wait_for(state="detached")
    assert widget.page.evaluate(INIT, {"index": "/docs/index.json", "title": "Second"}) is None
    widget.open()
    assert widget.dialog.locator("h1").inner_text() == "Second"
    assert visit.problems == []


def test_a_page_can_ask_without_a_dialog_and_listen(visit: Visit, site: Site) -> None:
    widget = visit(site.write("index.html", page(tag())))
    found = widget.page.evaluate("""async () => {
        const heard = [];
        const off = PyAgent.on("answer", (answer) => heard.push(answer.status));
        PyAgent.on("state", ({ state }) => heard.push(state));
        const { answer, sources, status } = await PyAgent.ask("How long are pages cached?");
        off();
        await PyAgent.ask("Again?");
        return { answer, links: sources.map((source) => source.link), status, heard };
    }""")
    assert "for one minute" in found["answer"]
    assert found["links"][0] == f"{visit.server.url}/guide/caching/#ttl"
    assert found["status"] == "answered"
    assert found["heard"] == ["loading", "ready", "answered"]
    assert not widget.dialog.is_visible()
    widget.open()
    assert len(widget.messages()) == 4


def test_an_unknown_event_names_the_nearest(visit: Visit, site: Site) -> None:
    widget = visit(site.write("index.html", page(tag())))
    with pytest.raises(PlaywrightError, match='Did you mean "answer"'):
        widget.page.evaluate("PyAgent.on('anwser', () => {})")


def test_a_missing_widget_file_is_told_beside_the_launcher_and_can_be_tried_again(visit: Visit, site: Site) -> None:
    widget = visit(site.write("index.html", page(tag())))
    widget.page.route("**/assets/widget.js*", lambda route: route.fulfill(status=404, body="gone"))
    widget.launcher.click()
    widget.root.locator(".launcher-note").wait_for()
    assert "assets/widget.js" in widget.error()
    assert widget.state() == "failed"
    widget.page.unroute("**/assets/widget.js*")
    widget.open()
    widget.wait_until_ready(20)
    assert widget.error() == ""


def test_every_setting_is_described_in_one_file() -> None:
    """The attributes that tests and docs use exist, and each has words for a site's owner."""
    source = (ROOT / "web" / "config.js").read_text("utf-8")
    names = re.findall(r"^  (\w+): \{$", source, re.MULTILINE)
    assert names[0] == "index"
    assert source.count("description:") == len(names)
    assert json.loads(json.dumps(names)) == list(dict.fromkeys(names))
