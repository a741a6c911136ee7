"""The synonyms file."""

from __future__ import annotations

from pathlib import Path

import pytest

from py_agent.model.errors import ConfigError
from py_agent.site.synonyms import read_synonyms


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "synonyms.txt"
    file.write_text(text, encoding="utf-8")
    return file


def test_words_of_a_line_stand_for_each_other_and_an_arrow_points_one_way(tmp_path: Path) -> None:
    text = "# ours\n\nlogin, sign-in,登录\nk8s => Kubernetes  # short\nlogin => auth, C#\n"
    assert read_synonyms(written(tmp_path, text)) == {
        "login": ["sign-in", "登录", "auth", "C#"],
        "sign-in": ["login", "登录"],
        "登录": ["login", "sign-in"],
        "k8s": ["Kubernetes"],
    }


@pytest.mark.parametrize("line", ["login", "=> a", "a =>", ",", "a => b => c"])
def test_a_line_that_names_none_is_told_with_its_number(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match="line 2, names no synonyms"):
        read_synonyms(written(tmp_path, f"a, b\n{line}\n"))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_synonyms(tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes(b"gr\xfc\xdfe, hallo")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_synonyms(tmp_path / "latin.txt")
