"""A question, its answer, and everything that can come between."""

from __future__ import annotations

import pytest
from conftest import Open, page_html, tag

from py_agent.model.errors import AgentError

pytestmark = pytest.mark.browser

HOSTS = pytest.mark.parametrize("harness", ["worker", "main"])


@HOSTS
def test_an_answer_is_streamed_and_cites_its_source(tab: Open, harness: str) -> None:
    opened = tab(page_html(tail=tag(more=f' data-harness="{harness}"')))
    assert opened.driver.open() == "ready"
    answer = opened.driver.ask("cited: how long?")
    assert (answer.status, answer.text) == ("answered", "Entries live for **300 seconds**.")
    assert [source["link"] for source in answer.sources] == [f"{opened.server.url}/agent/guide/caching.html#ttl"]
    question, shown = opened.driver.messages()
    assert (question.role, question.text) == ("user", "cited: how long?")
    assert (shown.status, shown.text) == ("answered", "Entries live for 300 seconds.")
    assert shown.links == [f"{opened.server.url}/agent/guide/caching.html#ttl"]
    assert opened.driver.timings() == {"total": 7}
    assert opened.console == []
