"""What the engine without a model takes for evidence, and what it takes for the lack of it."""

from __future__ import annotations

import pytest

from py_agent.engines import extractive
from py_agent.engines.evidence import Evidence, SeenPassage
from py_agent.engines.markdown import compose
from py_agent.engines.quoting import best_quote, blocks_of, sentences_of
from py_agent.engines.weighing import Weights, lacking, question_words, rank, same_word

TEXT = "Set the timeout of a webhook in lantern.json. A build may call a webhook. Sign in to use it."


def evidence(question: str, *texts: str, missing: tuple[str, ...] = (), **repaired: str) -> Evidence:
    passages = {f"p{n}": SeenPassage(f"p{n}", f"Guide > Part {n}", text) for n, text in enumerate(texts)}
    return Evidence(question=question, passages=passages, missing=list(missing), repaired=repaired)


async def lacks(question: str, *texts: str, missing: tuple[str, ...] = (), **repaired: str) -> list[str]:
    seen = evidence(question, *texts, missing=missing, **repaired)
    return lacking(seen, await Weights.weigh(seen))


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("How do I set the webhook timeout in Zanzibar?", ["Zanzibar"]),
        ("How do I set the webhook timeout with Build-Sign?", ["Build-Sign"]),
        ("How do I set the timeout in webhook.yaml?", ["webhook.yaml"]),
        ("set the webhook timeout with the gh tool", ["gh"]),
        ("Which webhook takes --dry-run?", ["dry-run"]),
    ],
)
async def test_a_name_that_stands_nowhere_is_what_is_missing(question: str, absent: list[str]) -> None:
    assert await lacks(question, TEXT, missing=("tool",)) == absent


@pytest.mark.parametrize(
    "question",
    [
        "How long may a webhook build run, i.e. its timeout?",
        "Setting the webhook's timeouts",
        "TimeoutError: webhook build timeout",
        "Why does a webhook build raise a TimeoutError on a timeout?",
        "Re-set the timeout of the webhook",
        "How do I set a webhook timeout in version 3.11 or v2 for a build and/or a sign?",
        "LANTERN.JSON webhook timeout",
    ],
)
async def test_ordinary_words_labels_errors_and_versions_are_no_names(question: str) -> None:
    assert await lacks(question, TEXT, missing=("run",)) == []


async def test_a_question_of_which_little_stands_anywhere_cannot_be_answered() -> None:
    question = "quietly remove sleeping visitors whose webhook went stale"
    assert "sleeping" in await lacks(question, TEXT, missing=("quietly", "remove", "sleeping", "visitors", "stale"))


async def test_a_typo_that_the_search_repaired_is_not_missing() -> None:
    repaired = {"webhok": "webhook", "timout": "timeout", "prefx": "prefix"}
    assert await lacks("set webhok_prefx timout", TEXT, "webhook_prefix is a setting.", **repaired) == []


def test_forms_of_a_word_are_one_word_and_others_are_not() -> None:
    for one, other in [
        ("upload", "uploads"),
        ("configure", "configured"),
        ("limiting", "limit"),
        ("commit", "commits"),
    ]:
        assert same_word(one, other), (one, other)
    for one, other in [("port", "post"), ("session", "sense"), ("in", "into"), ("test", "text")]:
        assert not same_word(one, other), (one, other)


async def test_the_passage_that_holds_the_question_comes_first_whatever_the_order_of_equals() -> None:
    seen = evidence("webhook timeout", "Nothing here.", "Nothing there.", "The webhook timeout is 12 seconds.")
    weights = await Weights.weigh(seen)
    assert rank(seen, weights)[0][1].id == "p2"


def test_words_of_the_question_are_weighed_by_what_they_look_like() -> None:
    words = {
        word.typed: word for word in question_words(evidence("How do I set url_prefix and --amend in HTTPServer?"))
    }
    assert [name for name, word in words.items() if word.identifier] == ["url_prefix", "amend", "HTTPServer"]
    assert "How" not in words


PASSAGE = """Uploads
Uploads are easy. Is there a limit? You can limit uploads with MAX_SIZE:

```python
app.config["MAX_SIZE"] = 16

raise TooLarge
```

- The limit counts bytes. It is checked early.
1. Then restart."""


def test_fences_hold_code_and_lines_hold_sentences() -> None:
    prose, code, items = blocks_of(PASSAGE)
    assert (code.code, code.language, code.text) == (True, "python", 'app.config["MAX_SIZE"] = 16\n\nraise TooLarge')
    assert not prose.code
    assert not items.code
    assert sentences_of("- The limit counts bytes. It is checked early.") == [
        "The limit counts bytes.",
        "It is checked early.",
    ]
    assert sentences_of("1. Then restart.") == ["Then restart."]


async def test_the_sentence_that_holds_the_question_is_quoted_with_its_listing() -> None:
    seen = evidence("limit the size of uploads", PASSAGE, "Other text about uploads.")
    weights = await Weights.weigh(seen)
    quote = best_quote(seen.passages["p0"], weights)
    assert quote is not None
    assert quote.text == "You can limit uploads with MAX_SIZE:"
    assert quote.text in PASSAGE
    assert quote.listing is not None
    answer = compose([quote])
    assert (
        answer
        == 'You can limit uploads with `MAX_SIZE`:\n\n```python\napp.config["MAX_SIZE"] = 16\n\nraise TooLarge\n```'
    )


async def test_every_quote_stands_in_its_passage_and_is_bounded() -> None:
    texts = [PASSAGE, "word " * 800, "```\n" + "code = 1\n" * 100 + "```", "A b. C d. E f. G h.", "```\nopen fence"]
    seen = evidence("limit code word open", *texts)
    weights = await Weights.weigh(seen)
    for passage in seen.passages.values():
        quote = best_quote(passage, weights)
        assert quote is not None
        assert quote.text in passage.text
        assert len(quote.text) <= 400


async def test_neither_a_repeated_heading_nor_a_question_of_the_page_is_an_answer() -> None:
    text = "Upload limit\n\nWhat is the limit of an upload, and how is the upload limit set?\n\nThe limit is 16 MB."
    seen = Evidence(question="upload limit", passages={"p0": SeenPassage("p0", "Guide > Upload limit", text)})
    quote = best_quote(seen.passages["p0"], await Weights.weigh(seen))
    assert quote is not None
    assert quote.text == "The limit is 16 MB."


async def test_a_refused_answer_comes_back_with_one_source_less() -> None:
    seen = evidence("webhook timeout", *(f"The webhook timeout of part {n} is {n} seconds." for n in range(3)))
    counts = []
    for refused in range(3):
        seen.refused = refused
        counts.append(len((await extractive._end(seen)).arguments.get("sources", [])))
    assert counts == [3, 2, 1]
    seen.refused = 3
    assert (await extractive._end(seen)).name == "say_i_dont_know"
