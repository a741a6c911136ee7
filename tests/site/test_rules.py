"""A site's own rules: what they change, and that a slip in them is told at the door."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.model.errors import ConfigError
from py_agent.site.read import Site, find_files, read_site
from py_agent.site.rules import read_rules
from tests.sites import make_site

PAGE = (
    "<body><main><h1>T</h1><p>Main words.</p><div class=advert>Advert words.</div></main>"
    "<div id=body><h1>Other</h1><p>Other words.</p></div></body>"
)


def read(tmp_path: Path, rules: str, *names: str) -> Site:
    root = make_site(tmp_path / "site", dict.fromkeys(names, PAGE))
    (tmp_path / "rules.toml").write_text(rules)
    return read_site(root, find_files(root), rules=read_rules(tmp_path / "rules.toml"))


def texts(site: Site) -> dict[str, str]:
    return {one.page: " ".join(piece.text for piece in one.pieces) for one in site.pages}


def test_content_and_drop_choose_what_is_read(tmp_path: Path) -> None:
    rules = 'drop = [".advert"]\n[[page]]\nmatch = "api/*"\ncontent = "#body"\n'
    found = texts(read(tmp_path, rules, "a.html", "api/deep/b.html"))
    assert found == {"a.html": "Main words.", "api/deep/b.html": "Other words."}


def test_a_main_part_that_a_page_lacks_is_found_as_always(tmp_path: Path) -> None:
    found = texts(read(tmp_path, 'content = ".gone"', "a.html"))["a.html"]
    assert found.split() == "Main words. Advert words.".split()


def test_pages_are_left_out_and_facets_given_by_glob(tmp_path: Path) -> None:
    rules = (
        '[[page]]\nmatch = "old/*"\nskip = true\n[[page]]\nmatch = "b*"\nfacets = { version = "2" }\n'
        '[[page]]\nmatch = "nothing"\n'
    )
    site = read(tmp_path, rules, "a.html", "b.html", "old/a.html")
    assert [one.reason for one in site.skipped] == ["a rule leaves out 'old/*'"]
    assert site.trouble == ["The rule for 'nothing' matches no file."]
    assert {one.page: one.facets for one in site.pages} == {"a.html": {}, "b.html": {}}  # one value tells nothing apart


@pytest.mark.parametrize(
    ("rules", "words", "hint"),
    [
        ("drop = [", "is no TOML", "drop"),
        ('drops = ".a"', "`drops` is no rule", "Did you mean `drop`?"),
        ('zzz = ".a"', "`zzz` is no rule", "content, drop, page"),
        ("drop = 5", "`drop` is 5", "CSS selector"),
        ('drop = [".a", ""]', "`drop` is", "CSS selector"),
        ('content = "div > > p"', "no CSS selector", "style sheet"),
        ('page = "x"', "`page`", "[[page]]"),
        ("[[page]]\nskip = true", "[[page]] number 1: `match` is missing", "match ="),
        ('[[page]]\nmatch = "a"\nskip = "yes"', "`skip` is 'yes'", "true or false"),
        ('[[page]]\nmatch = "a"\nfacets = { version = 2 }', "`facets`", "version"),
        ('[[page]]\nmatch = "a"\n[[page]]\nmatch = "b"\nmach = "c"', "number 2: `mach` is no rule", "`match`"),
        ("\x00", "is no TOML", ""),
    ],
)
def test_a_slip_is_told_with_its_cure(tmp_path: Path, rules: str, words: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, rules, "a.html")
    assert words in str(caught.value) and hint in caught.value.hint
    assert caught.value.code == "bad_rules" and "rules.toml" in str(caught.value)


def test_rules_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        read_rules(tmp_path / "no.toml")
    assert caught.value.code == "no_rules"
