from __future__ import annotations

import pytest

from py_agent.prompt.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("The quick brown fox jumps over the lazy dog. " * 20, 200, 300),
        ("def f(x):\n    return {'a': [x, 1]}\n" * 20, 280, 640),
        ("日本語の文章はトークンが多い。" * 20, 160, 400),
        ("🚀🎉" * 20, 40, 120),
        ("Быстрая лиса прыгает через ленивую собаку. " * 20, 180, 480),
    ],
)
def test_an_estimate_is_of_the_right_size(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


def test_joined_texts_cost_about_their_sum() -> None:
    one, other = "Some words here. ", "def f(): pass\n"
    assert abs(estimate_tokens(one + other) - estimate_tokens(one) - estimate_tokens(other)) <= 2
