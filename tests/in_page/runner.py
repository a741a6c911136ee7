"""Runs pytest inside Pyodide. Coroutine tests run on the page's own event loop: what passes here passes in the page."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from pyodide.ffi import run_sync

#: Examples of a property test that does not say how many it wants. CPython runs the hundreds; the page is four times
#: slower and looks for what differs between the two.
EXAMPLES = 25


class Page:
    """The plugin: runs coroutines, and notes the outcome of every test."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        test = pyfuncitem.obj
        # hypothesis makes a plain function of a coroutine test, and refuses to run it as long as the inner one is none.
        inner = test.hypothesis.inner_test if hasattr(test, "hypothesis") else None
        if inspect.iscoroutinefunction(inner):
            test.hypothesis.inner_test = lambda *args, **kwargs: run_sync(inner(*args, **kwargs))
            return None
        if not inspect.iscoroutinefunction(test):
            return None
        names = pyfuncitem._fixtureinfo.argnames
        run_sync(test(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = report.outcome


def run(paths: list[str], marks: str) -> dict[str, Any]:
    """Runs the tests at ``paths``.

    Returns:
        pytest's exit code, and the outcome of each test by its id.
    """
    settings.register_profile(
        "page", max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    settings.load_profile("page")
    page = Page()
    # -c: the project's own settings name a plugin for coroutines that needs an event loop of its own.
    options = ["-c", "in_page.ini", "--rootdir=.", "-q", "-p", "no:cacheprovider", "--tb=short", "-m", marks]
    code = pytest.main([*options, *paths], plugins=[page])
    return {"code": int(code), "outcomes": page.outcomes}
