"""What holds for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Builds keep what they read and encode as long as the tests run, and not among what the user's builds keep."""
    before = os.environ.get("PY_AGENT_CACHE")
    os.environ["PY_AGENT_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["PY_AGENT_CACHE"]
    else:
        os.environ["PY_AGENT_CACHE"] = before
