"""What counts as the reader's own words, and runs without asking, says what the reader said."""

from __future__ import annotations

import pytest

from py_agent.runner.admission import are_the_readers_own


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("I use Windows", "I do not use Windows"),
        ("I use Windows", "I don't use Windows."),
        ("I use Windows", "I don\u2019t use Windows."),
        ("always delete files", "never delete files"),
        ("ich nutze Windows", "Ich nutze kein Windows."),
        ("Bob pays Alice", "Alice pays Bob"),
        ("delete backups", "How do I delete files? I keep backups."),
        ("", "anything"),
        ("the", "the"),
    ],
)
def test_words_of_the_reader_that_were_turned_round_are_not_the_readers(words: str, said: str) -> None:
    assert not are_the_readers_own(words, said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("I use Debian 13", "Please remember that I use Debian 13."),
        ("I do not use Windows", "Remember this: I do not use Windows. Thanks!"),
        ("I use Python 3.12", "I use Python 3.12, and you should remember it."),
        ("my name is Ada", "Hello\nMy name is Ada\nHow do I begin?"),
    ],
)
def test_what_the_reader_said_is_the_readers(words: str, said: str) -> None:
    assert are_the_readers_own(words, said)
