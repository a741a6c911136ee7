"""The check of a citation: it must be able to fail, in each way in which a citation can be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.testing.verify import CitationError, verify_citation

PAGE = """<!doctype html><title>T</title><body>
<h1 id="top">Caching</h1><p>Nothing is kept by default.</p>
<h2 id="time-to-live">Time to live</h2><p>An <b>un</b>used entry lives for
<code>ttl</code> seconds&mdash;300 unless set.</p><a name="old"></a><table><tr><td>ttl</td><td>300</td></tr></table>
<script>var secret = "never said";</script>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site" / "guide").mkdir(parents=True)
    (tmp_path / "site" / "guide" / "cache.html").write_text(PAGE)
    (tmp_path / "outside.html").write_text("<p>outside words")
    return tmp_path / "site"


@pytest.mark.parametrize(
    ("anchor", "quote"),
    [
        ("time-to-live", "An unused entry lives for ttl seconds"),
        ("time-to-live", "Time to live"),
        ("top", "300 unless set"),
        ("", "Nothing is kept by default."),
        ("old", "ttl | 300"),
    ],
)
def test_a_true_citation_holds(site: Path, anchor: str, quote: str) -> None:
    verify_citation(site, "guide/cache.html", anchor, quote)


@pytest.mark.parametrize(
    ("page", "anchor", "quote", "reason"),
    [
        ("guide/none.html", "", "x", "no such page"),
        ("../outside.html", "", "outside words", "no such page"),
        ("guide/cache.html", "nowhere", "ttl", "no element"),
        ("guide/cache.html", "time-to-live", "Nothing is kept by default.", "do not stand"),
        ("guide/cache.html", "top", "lives for 300 seconds", "do not stand"),
        ("guide/cache.html", "top", "never said", "do not stand"),
        ("guide/cache.html", "top", "used entry", "do not stand"),
        ("guide/cache.html", "top", " - ", "no words"),
    ],
)
def test_a_false_citation_is_found_out(site: Path, page: str, anchor: str, quote: str, reason: str) -> None:
    with pytest.raises(CitationError, match=reason):
        verify_citation(site, page, anchor, quote)
