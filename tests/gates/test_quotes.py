from __future__ import annotations

import pytest

from py_agent.gates.links import without_links
from py_agent.gates.quotes import find_quote
from py_agent.prompt.envelopes import break_tokens

TEXT = "It’s “quoted” — the  default\ntimeout is\u00a012\u00a0seconds…\n\nuse  <turn|> or x < y"


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("default timeout is 12 seconds", "default\ntimeout is\u00a012\u00a0seconds"),
        ('It\'s "quoted" - the default', "It’s “quoted” — the  default"),
        ("seconds...", "seconds…"),
        ("  timeout\n is 12 ", "timeout is 12"),
        ("x < y", "x < y"),
    ],
)
def test_typography_and_line_breaks_are_forgiven(quote: str, found: str) -> None:
    piece = find_quote(quote, TEXT)
    assert piece is not None
    assert piece in TEXT
    assert " ".join(piece.split()) == " ".join(found.split())


@pytest.mark.parametrize("quote", ["timeout is 13 seconds", "Default timeout", "timeout 12 seconds", "", "  "])
def test_other_words_are_not(quote: str) -> None:
    assert find_quote(quote, TEXT) is None


def test_a_quote_copied_from_an_envelope_is_found_in_the_page() -> None:
    assert find_quote(break_tokens("use <turn|> or x"), TEXT) == "use  <turn|> or x"


def test_links_of_a_model_become_text_and_code_stays() -> None:
    answer = (
        "See [the page](https://evil.example/x) and <https://evil.example> or www.evil.example, "
        "`https://ok.example`, ![i](javascript:x).\n\n```\ncurl https://ok.example\n```\n\n[r]: https://evil.example"
    )
    plain = without_links(answer)
    assert "](" not in plain
    assert "[r]:" not in plain
    assert "`https://evil.example`" in plain
    assert "`https://ok.example`, i." in plain
    assert "```\ncurl https://ok.example\n```" in plain


def test_a_quote_of_a_token_that_an_envelope_broke_is_found_as_the_page_has_it() -> None:
    text = "Llama 2 wants [INST] and <<SYS>> around it."
    assert find_quote("wants [ INST] and < <SYS>> around", text) == "wants [INST] and <<SYS>> around"
