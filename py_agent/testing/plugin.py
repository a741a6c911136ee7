"""Pytest fixtures for owners of sites: ``py_agent_widget`` is the chat of your own site, in a real Chromium.

Name the site's folder, with the agent in it, by ``--py-agent-site`` or by ``py_agent_site`` in pytest's settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

    from py_agent.site.serve import SiteServer
    from py_agent.testing.driver import WidgetDriver

# Imports of the package stand inside the fixtures: pytest loads this module in every project of the environment, and
# those that do not use it must pay nothing and need no Playwright.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the settings."""
    text = "folder of the built site that holds the agent, for the py_agent_* fixtures"
    parser.addini("py_agent_site", text, default="")
    parser.getgroup("py-agent").addoption("--py-agent-site", default="", help=text)


@pytest.fixture(scope="session")
def py_agent_site(request: pytest.FixtureRequest) -> Path:
    """The site's folder. Override it to build the site first."""
    from py_agent.model.errors import AgentError

    named: str = request.config.getoption("--py-agent-site") or request.config.getini("py_agent_site")
    if not named:
        raise AgentError(
            "No site was named for the chat's fixtures.",
            hint="Set py_agent_site in pytest's settings, or call pytest with --py-agent-site FOLDER.",
            code="no_site",
        )
    root: Path = request.config.rootpath
    return (root / named).resolve()


@pytest.fixture(scope="session")
def py_agent_server(py_agent_site: Path) -> Iterator[SiteServer]:
    """Serves the site on localhost."""
    from py_agent.site.serve import SiteServer

    with SiteServer(py_agent_site) as server:
        yield server


@pytest.fixture(scope="session")
def py_agent_browser() -> Iterator[BrowserContext]:
    """One Chromium for all tests."""
    from py_agent.testing.chromium import open_chromium

    with open_chromium() as browser:
        yield browser


@pytest.fixture
def py_agent_widget(py_agent_server: SiteServer, py_agent_browser: BrowserContext) -> Iterator[WidgetDriver]:
    """The chat on the site's first page; go elsewhere with ``py_agent_widget.page.goto``."""
    from py_agent.testing.driver import WidgetDriver

    page = py_agent_browser.new_page()
    page.goto(py_agent_server.url + "/")
    yield WidgetDriver(page)
    page.close()
