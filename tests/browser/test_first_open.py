"""What a first visit really loads is what the build's report says it loads."""

import json

import pytest

from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium
from py_agent.testing.driver import WidgetDriver

pytestmark = pytest.mark.browser

#: Share by which the reported sum may miss the real one.
TOLERANCE = 0.01


def test_the_reported_first_visit_is_what_chromium_requests(dist, docs, index):
    report = json.loads((dist / "report.json").read_text())
    tag = '<script src="/agent/py-agent.js" data-index="/agent/index/manifest.json" data-title="Ask"></script>'
    mounts = {"/agent": dist / "agent", "/agent/index": index}
    with SiteServer(docs, mounts=mounts, inject=tag) as server, open_chromium() as browser:
        page = browser.new_page()
        page.goto(server.url + "/")
        launcher_only = {request.path for request in server.requests if request.path.startswith("/agent/")}
        answer = WidgetDriver(page).ask("How do I install the lantern?")
        requested = {
            request.path.removeprefix("/agent/")
            for request in server.requests
            if request.path.startswith("/agent/") and not request.path.startswith("/agent/index/")
        }
    assert answer.status == "answered"
    assert launcher_only == {"/agent/py-agent.js"}  # a page whose reader does not ask loads the launcher alone
    br = {entry["path"]: entry["br"] for entry in report["files"]}
    real = sum(br[path] for path in requested)
    assert abs(real - report["totals"]["first_open_br"]) <= TOLERANCE * real
    assert requested == set(report["first_open"])
