"""Versions and languages of a site become facets."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.model.errors import ConfigError
from py_agent.site.facets import order
from py_agent.site.read import Site, find_files, read_site
from tests.sites import make_site


def page(text: str, language: str = "") -> str:
    return f"<html{f' lang={language}' if language else ''}><main><h1>{text}</h1><p>Words of {text}.</main></html>"


def read(root: Path, **facets: str) -> Site:
    return read_site(root, find_files(root), facets=facets)


def facets(root: Path) -> dict[str, dict[str, str]]:
    return {one.page: one.facets for one in read(root).pages}


def test_folders_of_versions_become_a_facet_and_all_are_indexed(tmp_path: Path) -> None:
    root = make_site(tmp_path, {f"{name}/a.html": page(name) for name in ("v1.0", "v1.2", "latest", "guide")})
    assert facets(root) == {
        "v1.0/a.html": {"version": "v1.0"}, "v1.2/a.html": {"version": "v1.2"},
        "latest/a.html": {"version": "latest"}, "guide/a.html": {},
    }  # fmt: skip
    chosen = read(root, version="latest")
    assert [one.page for one in chosen.pages] == ["guide/a.html", "latest/a.html"]
    assert {one.reason for one in chosen.skipped} == {
        "its version is 'v1.0', not 'latest'",
        "its version is 'v1.2', not 'latest'",
    }


def test_languages_above_versions(tmp_path: Path) -> None:
    names = [(language, version) for language in ("en", "de") for version in ("stable", "1.x")]
    root = make_site(tmp_path, {f"{lang}/{ver}/a.html": page(lang + ver, lang) for lang, ver in names})
    assert facets(root) == {f"{lang}/{ver}/a.html": {"language": lang, "version": ver} for lang, ver in names}
    assert [one.page for one in read(root, language="de", version="stable").pages] == ["de/stable/a.html"]


def test_pages_beside_the_folders_of_versions_are_the_newest(tmp_path: Path) -> None:
    root = make_site(tmp_path, {name: page(name) for name in ("a.html", "1.0/a.html", "2.0/a.html", "about.html")})
    found = facets(root)
    assert found["a.html"] == {"version": "latest"} and found["about.html"] == {}
    assert [one.page for one in read(root, version="latest").pages] == ["a.html", "about.html"]


@pytest.mark.parametrize(
    "folders",
    [("1", "2", "3"), ("v1.0", "guide"), ("main", "next"), ("api", "cli"), ("en", "fr")],
    ids=["chapters", "one version", "words", "no language", "no page is in the language"],
)
def test_other_folders_are_no_facets(tmp_path: Path, folders: tuple[str, ...]) -> None:
    root = make_site(tmp_path, {f"{name}/a.html": page(name) for name in folders})
    assert set(map(str, facets(root).values())) == {"{}"}


def test_the_language_of_the_page_counts_where_no_folder_tells_it(tmp_path: Path) -> None:
    root = make_site(tmp_path, {"a.html": page("a", "en-GB"), "b.html": page("b", "ja")})
    assert facets(root) == {"a.html": {"language": "en-gb"}, "b.html": {"language": "ja"}}
    one = make_site(tmp_path / "one", {"a.html": page("a", "en"), "b.html": page("b", "en")})
    assert facets(one) == {"a.html": {}, "b.html": {}}


def test_the_same_page_in_many_versions_is_no_collection(tmp_path: Path) -> None:
    common = "".join(f"<h2>Part {n}</h2><p>{f'Words of part {n} of the manual. ' * 5}</p>" for n in range(6))
    more = f"<h2>New</h2><p>{'Only in the newest version. ' * 6}</p>"
    versions = {f"{n}.0/a.html": f"<main><h1>A</h1>{common}{more if n == 5 else ''}</main>" for n in range(1, 6)}
    assert len(read(make_site(tmp_path, versions)).pages) == 5


def test_a_wrong_facet_is_an_error_that_lists_the_right_ones(tmp_path: Path) -> None:
    root = make_site(tmp_path, {f"{name}/a.html": page(name) for name in ("1.0", "1.10", "1.9")})
    with pytest.raises(ConfigError, match="no version '3'") as caught:
        read(root, version="3")
    assert caught.value.hint == "It has: 1.0, 1.10, 1.9." and caught.value.code == "bad_facet"
    with pytest.raises(ConfigError, match="facet 'color'"):
        read(root, color="red")
    # Where no folder is called so, the latest version is the highest.
    assert [one.page for one in read(root, version="latest").pages] == ["1.10/a.html"]


def test_versions_sort_by_number() -> None:
    assert sorted(["v10.0", "v9.1", "dev", "stable", "v9.1.2"], key=order) == [
        "dev",
        "v9.1",
        "v9.1.2",
        "v10.0",
        "stable",
    ]
