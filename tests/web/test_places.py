"""Where the widget can stand: other origins, no server at all, a worker that never speaks, a documented tag."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext
from settings_table import ROOT, settings_table

from py_agent.site.serve import SiteServer
from tests.web.conftest import Open, page_html, tag

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("harness", ["worker", "main"])
def test_script_and_page_may_be_of_two_origins(tab: Open, agent: Path, tmp_path: Path, harness: str) -> None:
    (tmp_path / "cdn").mkdir()
    cors = {"Access-Control-Allow-Origin": "*"}
    with SiteServer(tmp_path / "cdn", mounts={"/agent": agent}, headers=cors) as cdn:
        script = tag(more=f' data-harness="{harness}"').replace("/agent/py-agent.js", f"{cdn.url}/agent/py-agent.js")
        opened = tab(page_html(tail=script))
        assert opened.driver.open() == "ready"
        assert opened.driver.ask("cited: from afar").status == "answered"
        assert opened.requested("/agent/session.js") == opened.requested("/agent/widget.js") == 0
        assert opened.console == []


def test_a_page_opened_from_disk_says_that_it_must_be_served(
    browser: BrowserContext, agent: Path, tmp_path: Path
) -> None:
    html = page_html(tail=tag().replace('src="/agent/', f'src="{agent.as_uri()}/'))
    (tmp_path / "index.html").write_text(html, encoding="utf-8")
    page = browser.new_page()
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.goto((tmp_path / "index.html").as_uri())
    page.wait_for_timeout(200)
    page.close()
    assert len(told) == 1
    assert "was opened from a file" in told[0]
    assert "http.server" in told[0]


def test_a_worker_that_never_speaks_is_given_up(tab: Open) -> None:
    opened = tab(page_html(tail=tag("?boot=silent")))
    opened.page.clock.install()
    opened.page.evaluate("() => PyAgent.open()")
    opened.page.clock.run_for(19_000)
    assert opened.driver.state() == "loading"
    opened.page.clock.run_for(2_000)
    assert opened.driver.state() == "failed"
    assert "did not answer within 20 seconds" in opened.driver.element.locator(".notice .error").inner_text()


def test_a_long_answer_is_shown_from_its_question_when_it_is_complete(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    top_of = "root.querySelector('{}').getBoundingClientRect().top"
    top = f"{top_of.format('.question')} - {top_of.format('.list')}"
    opened.driver.ask("lines:60")
    assert 0 <= opened.shadow(top) <= 40
    newest = opened.driver.element.get_by_role("button", name="Go to the newest message")
    newest.wait_for()
    # The reader's next question is in view all the same.
    opened.driver.ask("markdown:short")
    assert newest.is_hidden()


def test_a_reader_who_has_scrolled_away_is_left_there_at_the_end(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    ask = opened.driver.begin("lines:80")
    opened.page.wait_for_function(
        "document.querySelector('py-agent-widget').shadowRoot.querySelectorAll('.body li').length > 50"
    )
    opened.driver.element.locator(".list").hover()
    opened.page.mouse.wheel(0, -200)
    opened.page.wait_for_timeout(200)
    before = opened.shadow("root.querySelector('.list').scrollTop")
    assert opened.driver.wait(ask).status == "answered"
    assert abs(opened.shadow("root.querySelector('.list').scrollTop") - before) <= 1


def test_the_documentation_lists_every_setting() -> None:
    assert settings_table() in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
