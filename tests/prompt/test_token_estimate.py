"""The estimate of tokens is held to counts of the real tokenizers, on texts that it was not fitted to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from py_agent.prompt.tokens import FEATURES, WEIGHTS, counter_for, estimate_tokens

TEXTS = json.loads((Path(__file__).parents[1] / "fixtures" / "tokens" / "held_out.json").read_text(encoding="utf-8"))
KINDS = ("english", "code", "cjk", "symbols")
MODELS = {"gemma-4-E2B-it-web": "gemma3", "tiny-cpu": "tiny"}


def counts(model: str, kind: str) -> list[tuple[int, int]]:
    """Estimate and truth of each text."""
    truth = MODELS[model]
    count = counter_for(model)
    rows = [row for row in TEXTS if row["kind"] == kind]
    return [(count(row["text"] if truth == "gemma3" else row["text"][: row["tiny_chars"]]), row[truth]) for row in rows]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_the_sum_of_a_kind_is_close_and_rather_too_many(model: str, kind: str) -> None:
    found = counts(model, kind)
    assert len(found) >= 50
    ratio = sum(estimate for estimate, _ in found) / sum(truth for _, truth in found)
    assert 0.97 <= ratio <= 1.12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_nearly_every_single_text_is_close(model: str, kind: str) -> None:
    found = counts(model, kind)
    close = [0.90 <= estimate / truth <= 1.25 for estimate, truth in found]
    assert sum(close) / len(close) >= 0.95


def test_the_texts_are_what_they_are_said_to_be() -> None:
    for row in TEXTS:
        assert 200 <= len(row["text"]) <= 2_000
        assert 200 <= row["tiny_chars"] <= len(row["text"])


def test_an_unknown_model_is_given_more_and_a_name_is_found_in_its_file() -> None:
    text = "Where are conversations stored?"
    assert counter_for("llama-3-8b")(text) > counter_for("gemma-4-E4B-it")(text) == estimate_tokens(text)
    assert counter_for(None)(text) == estimate_tokens(text)
    assert counter_for("tiny-artisan")(text) > estimate_tokens(text)


def test_every_weight_has_its_feature_and_no_text_is_free() -> None:
    assert all(len(weights) == len(FEATURES) for weights in WEIGHTS.values())
    assert estimate_tokens("") == 0
    for text in ("a", " ", "\n", "\x00", "é", "漢", "🙂", "\ud83d", "𝕏", "\u200b"):
        assert estimate_tokens(text) >= 1


def test_more_text_is_never_fewer_tokens_by_much() -> None:
    text = "".join(row["text"] for row in TEXTS[:40])
    last = 0
    for end in range(0, len(text), 997):
        now = estimate_tokens(text[:end])
        assert now >= last - 8
        last = now
