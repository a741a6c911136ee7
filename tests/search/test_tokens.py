"""Words and names become terms."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_agent.search.query import read_query
from py_agent.search.tokens import MAX_TERM_CHARS, NAME_SIGN, fold, stem, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--show-toplevel", {"showtoplevel", "show", "toplevel"}),
        ("blame.ignoreRevsFile", {"blameignorerevsfile", "blame", "ignore", "rev", "file"}),
        ("SESSION_COOKIE_SAMESITE", {"sessioncookiesamesite", "session", "cookie", "samesite"}),
        ("foo_bar.baz()", {"foobarbaz", "foo", "bar", "baz"}),
        ("C++ and C# and C", {"c++", "c#", "c", "and"}),
        ("C++20", {"c++", "20"}),
        ("1.2.3 v1.12.3", {"1.2.3", "1.12.3"}),
        ("#1042 E1042 ENOENT", {"1042", "e1042", "enoent"}),
        ("the URLs of APIs", {"the", "url", "of", "api"}),
        ("Flask's", {"flask"}),
        ("登录服务", {"登录", "录服", "服务"}),
        ("使用JWT令牌", {"使用", "jwt", "令牌"}),
        ("Größe résumé ﬁle Phở ЁЖ", {"grosse", "resume", "file", "pho", "еж"}),
        ("が", {"が"}),
        ("--- *** ...", set()),
    ],
)
def test_terms(text: str, expected: set[str]) -> None:
    assert set(terms(text)) == expected


def test_two_spellings_of_one_name_meet() -> None:
    assert set(terms("setTimeout")) & set(terms("set_timeout")) >= {"settimeout"}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("queries", "query"),
        ("classes", "class"),
        ("files", "file"),
        ("status", "status"),
        ("this", "this"),
        ("js", "js"),
    ],
)
def test_english_plurals_are_folded(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_stop_words_go_unless_nothing_else_is_there() -> None:
    assert [word.text for word in read_query("how do I make a cache?")] == ["make", "cache"]
    assert [word.text for word in read_query("to be or not to be")] == ["to", "be", "or", "not"]


def test_names_are_known_by_their_shape_or_a_capital_inside_a_sentence() -> None:
    read = read_query("How is Jenkins asked for set_timeout? Cache it with ENOENT")
    assert {word.text for word in read if word.name} == {"Jenkins", "set_timeout", "ENOENT"}


@given(st.text())
def test_any_text_has_terms_that_fit_the_index(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_CHARS
        assert '"' not in term and "\\" not in term and "\n" not in term


@given(st.text(alphabet="abcÄéÇ0 "))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_signs_of_names_are_letters_digits_underscores_and_all_beyond_ascii() -> None:
    plain = set("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
    sign = re.compile(NAME_SIGN)
    assert all((sign.match(chr(code)) is not None) == (code > 0x7F or chr(code) in plain) for code in range(0x110000))
