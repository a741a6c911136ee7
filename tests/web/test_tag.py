"""The script tag: wherever it stands, however often it runs, whatever it says."""

from __future__ import annotations

import pytest

from tests.web.conftest import BODY, Open, page_html, tag

pytestmark = pytest.mark.browser

_LAUNCHERS = "document.querySelectorAll('py-agent-widget').length"

#: A router that replaces the page's content and runs its scripts again.
_ROUTER = """<script>
window.hostNavigate = () => {
  document.querySelector("#app").innerHTML = "<main><h1>Second page</h1></main>";
  const script = document.createElement("script");
  script.src = "/agent/py-agent.js"; script.dataset.index = "/agent/index/manifest.json";
  document.head.append(script);
  history.pushState({}, "", "/second/");
  return new Promise((done) => { script.onload = done; });
};
</script>"""

PLACES = {
    "at the end of the body": page_html(tail=tag()),
    "in the head": page_html(head=tag()),
    "async": page_html(tail=tag(more=" async")),
    "deferred in the head": page_html(head=tag(more=" defer")),
    "a module": page_html(head=tag(more=' type="module"')),
    "twice": page_html(tail=tag(more=" async") + tag(more=" async").replace("py-agent.js", "py-agent.js?v=2")),
}


@pytest.mark.parametrize("html", PLACES.values(), ids=PLACES.keys())
def test_one_launcher_with_the_tags_settings(tab: Open, html: str) -> None:
    opened = tab(html)
    opened.driver.element.locator("button.launcher").wait_for()
    opened.page.wait_for_load_state("load")
    assert opened.page.evaluate(_LAUNCHERS) == 1
    assert opened.driver.element.locator("button.launcher").inner_text() == "Ask Lantern"
    answer = opened.driver.ask("cited: once")
    assert answer.sources[0]["link"] == f"{opened.server.url}/agent/guide/caching.html#ttl"
    assert opened.requested("/agent/session.js") == opened.requested("/agent/widget.js") == 1
    assert opened.console == []


def test_a_router_that_runs_the_tag_again_keeps_the_conversation(tab: Open) -> None:
    opened = tab(page_html(body=f'<div id="app">{BODY}</div>', tail=_ROUTER + tag()))
    opened.driver.open()
    opened.driver.ask("cited: before")
    opened.page.evaluate("hostNavigate()")
    opened.page.evaluate("hostNavigate()")
    assert opened.page.evaluate(_LAUNCHERS) == 1
    assert len(opened.driver.messages()) == 2
    assert opened.driver.element.locator("[role=dialog]").is_visible()
    assert opened.driver.ask("page: where am I?").text == f"{opened.server.url}/second/"
    assert opened.requested("/agent/session.js") == 1
    assert opened.console == []


def test_without_an_index_nothing_starts_until_the_page_says_so(tab: Open) -> None:
    opened = tab(page_html(tail='<script src="/agent/py-agent.js"></script>'))
    assert opened.page.evaluate(_LAUNCHERS) == 0
    refused = opened.driver.ask("cited: not yet")
    assert refused.error is not None
    assert refused.error["code"] == "not_started"
    opened.page.evaluate("PyAgent.init({ index: '/agent/index/manifest.json', title: 'Here' }) === PyAgent")
    assert opened.page.evaluate(_LAUNCHERS) == 1
    assert opened.driver.ask("cited: now").status == "answered"


_INIT_ERROR = "(options) => { try { PyAgent.init(options); } catch (error) { return [error.code, error.message]; } }"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"index": "/i.json", "tilte": "x"}, 'Did you mean "title"?'),
        ({"title": "x"}, '"index" is missing'),
        ({"index": "/i.json", "harness": "thread"}, "Use one of worker, main."),
        ({"index": "/i.json", "window": "12"}, "no whole number from 1024"),
        ({"index": "/i.json", "title": 7}, "not text"),
        ({"index": "javascript:alert(1)"}, "not an http or https address"),
        ({"index": "http://["}, "not an address"),
        ({"index": "/i.json", "engine": "litert"}, "needs a model"),
        ({"index": "/i.json", "engine": "openai"}, "needs a server"),
        ({"index": "/i.json", "engine": "openai", "baseUrl": "https://me:s3cret@ai.example/v1"}, "could read"),
        ({"index": "/i.json", "engine": "openai", "baseUrl": "https://ai.example/v1?key=s3cret"}, "could read"),
        ({"index": "/i.json", "engine": "openai", "baseUrl": "/v1", "apiKey": "s3cret"}, 'no setting "apiKey"'),
    ],
)
def test_init_refuses_what_cannot_work_and_names_the_cure(tab: Open, options: dict[str, object], said: str) -> None:
    opened = tab(page_html(tail='<script src="/agent/py-agent.js"></script>'))
    code, message = opened.page.evaluate(_INIT_ERROR, options)
    assert code == "config_error"
    assert said in message
    assert "s3cret" not in message
    assert opened.page.evaluate(_LAUNCHERS) == 0


def test_the_tag_warns_of_a_misspelling_and_lets_foreign_attributes_be(tab: Open) -> None:
    foreign = ' data-domain="example.org" data-turbo-track="reload" data-cfasync="false" data-website-id="1"'
    opened = tab(page_html(tail=tag(more=foreign + ' data-placholder="Ask away"')))
    assert opened.page.evaluate(_LAUNCHERS) == 1
    assert [line for line in opened.console if "data-placholder" not in line] == []
    assert "Did you mean data-placeholder?" in opened.console[0]


def test_a_bad_value_on_the_tag_is_an_error_on_the_console_and_no_launcher(tab: Open) -> None:
    opened = tab(page_html(tail=tag(more=' data-window="many"')))
    assert opened.page.evaluate(_LAUNCHERS) == 0
    assert opened.console == [
        'error: PyAgent: The setting data-window is "many", which is no whole number from 1024 to 131072. '
        "Context window of the model in tokens: prompt and answer together."
    ]


def test_settings_reach_the_page(tab: Open) -> None:
    more = ' data-placeholder="Frag" data-greeting="Hello reader" data-position="left"'
    opened = tab(page_html(tail=tag(more=more)))
    opened.driver.open()
    assert opened.shadow("root.querySelector('textarea').placeholder") == "Frag"
    assert opened.shadow("root.querySelector('.greeting').innerText") == "Hello reader"
    assert opened.driver.element.locator("[role=dialog]").bounding_box()["x"] < 100  # type: ignore[index]


def test_events_are_told_until_the_listener_leaves(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.page.evaluate(
        """() => {
          window.told = [];
          const said = (name, detail) => (name === "state" ? detail.state : name === "event" ? detail.type : name);
          window.offs = ["open", "close", "state", "event", "answer"].map((name) =>
            PyAgent.on(name, (detail) => told.push(said(name, detail))));
          PyAgent.on("open", () => { throw new Error("the page's own bug"); });
        }"""
    )
    opened.driver.open()
    opened.driver.ask("markdown:yes")
    opened.driver.close()
    told = opened.page.evaluate("told")
    assert told[:3] == ["loading", "open", "loading"]
    assert told[3:5] == ["ready", "turn_start"]
    assert told[-3:] == ["turn_end", "answer", "close"]
    opened.page.evaluate("offs.forEach((off) => off())")
    opened.driver.open()
    assert opened.page.evaluate("told.length") == len(told)
    assert all("the page's own bug" in line for line in opened.console)
    with pytest.raises(Exception, match='Did you mean "answer"'):
        opened.page.evaluate("PyAgent.on('anwser', () => {})")


def test_destroy_takes_everything_away_and_init_brings_it_back(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    ask = opened.driver.begin("lines:100")
    opened.page.wait_for_timeout(100)
    opened.page.evaluate("PyAgent.destroy()")
    assert opened.page.evaluate(_LAUNCHERS) == 0
    error = opened.driver.wait(ask).error
    assert error is not None
    assert error["code"] == "destroyed"
    opened.page.evaluate("PyAgent.init({ index: '/agent/index/manifest.json' })")
    assert opened.driver.ask("cited: again").status == "answered"
    assert opened.requested("/agent/widget.js") == 1
    assert opened.console == []
