"""A made-up documentation site of any size, as files: the same for the same seed, and any page again by its number.

The words follow Zipf's law, as those of every language do: the word of rank r stands there 1 / r as often as the first.
The commonest are English function words, a part of the others are names in camel case; pages have a menu, a footer and
code, so that reading them costs what reading pages costs.
"""

from __future__ import annotations

import random
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path

from py_agent.search.stopwords import STOP_WORDS

#: Different words; of 100,000 pages more than 99 % of them come up, and names add their parts as one word.
VOCABULARY = 600_000
#: Passages of a page, one a heading, and the words of each at least and at most: 420 words a page and more.
SECTIONS = 6
SECTION_WORDS = (70, 110)
#: Words of a heading.
HEADING_WORDS = (2, 4)
#: Links of a page's menu: half of a real page is not its text.
MENU_LINKS = 30
#: One word in so many, beyond the commonest, is a name in camel case.
NAMES_EVERY = 10
#: Pages of a folder.
FOLDER_PAGES = 500
#: Pages that one task of a process writes: seconds of work, so that the way there costs nothing.
TASK_PAGES = 500

_SYLLABLES = [onset + vowel for onset in "b c d f g h k l m n p r t v w z br st tr pl".split() for vowel in "aeiou"]
_CODAS = "n r l t m k d b p g".split()
#: Ranks whose words have two syllables, and three: common words are short.
_SHORT, _MIDDLE = 3_000, 100_000
#: Prime to the number of words of three syllables: walks through all of them in no order.
_STRIDE = 387_421


@dataclass(frozen=True)
class Section:
    """What stands under one heading; ``code`` is empty but for one section a page."""

    heading: str
    anchor: str
    paragraphs: tuple[str, ...]
    code: str = ""


@dataclass(frozen=True)
class BigPage:
    """A page: its file below the site's root, and what it says."""

    file: str
    title: str
    sections: tuple[Section, ...]


def big_page(number: int, seed: int) -> BigPage:
    """Page ``number`` (from 0)."""
    chance = random.Random(f"{seed} {number}")  # noqa: S311 - nothing here is secret
    title = _heading(chance)
    code_at = chance.randrange(1, SECTIONS)
    sections = []
    for at in range(SECTIONS):
        words = _draw(chance, chance.randint(*SECTION_WORDS))
        cut = chance.randint(25, len(words) - 25)
        paragraphs = (_sentences(words[:cut]), _sentences(words[cut:]))
        heading = title if at == 0 else _heading(chance)
        code = f"{_word(chance)}({_word(chance)}, {_word(chance)}={number})" if at == code_at else ""
        sections.append(Section(heading, f"{heading.lower().replace(' ', '-')}-{at}", paragraphs, code))
    return BigPage(file_of(number), title, tuple(sections))


def file_of(number: int) -> str:
    """The file of page ``number``."""
    return f"part-{number // FOLDER_PAGES:04}/page-{number:06}.html"


def html_of(page: BigPage, number: int, pages: int) -> str:
    """The page as a generator would write it."""
    menu = "".join(
        f'<li><a href="../{file_of(other)}">Page {other}</a></li>'
        for other in ((number + step) % pages for step in range(MENU_LINKS))
    )
    body = []
    for at, section in enumerate(page.sections):
        level = "h1" if at == 0 else "h2"
        body.append(f'<{level} id="{section.anchor}">{section.heading}</{level}>')
        body += [f"<p>{text}</p>" for text in section.paragraphs]
        if section.code:
            body.append(f'<pre><code class="language-python">{section.code}</code></pre>')
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{page.title} | Big site</title></head>\n'
        f"<body><header><a href='../index.html'>Big site</a></header><nav><ul>{menu}</ul></nav>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n<footer><p>Made by a program, for a measurement.</p></footer></body></html>\n"
    )


def write_site(root: Path, pages: int, seed: int, processes: int) -> int:
    """Writes ``pages`` pages below ``root``; returns their bytes."""
    tasks = [(root, start, min(pages, start + TASK_PAGES), pages, seed) for start in range(0, pages, TASK_PAGES)]
    if processes < 2 or len(tasks) < 2:
        return sum(map(_write, tasks))
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return sum(pool.map(_write, tasks))


def _write(task: tuple[Path, int, int, int, int]) -> int:
    root, start, end, pages, seed = task
    written = 0
    for number in range(start, end):
        data = html_of(big_page(number, seed), number, pages).encode()
        file = root / file_of(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        written += len(data)
    return written


def questions(pages: int, seed: int, count: int) -> list[str]:
    """What readers might ask of the site: headings, parts of sentences, and one in five with a slip of the fingers."""
    chance = random.Random(f"{seed} questions")  # noqa: S311 - nothing here is secret
    asked = []
    for number in range(count):
        section = chance.choice(big_page(chance.randrange(pages), seed).sections)
        text = section.heading
        if number % 2:
            words = section.paragraphs[0].split()
            start = chance.randrange(len(words) - 8)
            text = " ".join(words[start : start + chance.randint(5, 8)])
        asked.append(_slip(text, chance) if number % 5 == 4 else text)
    return asked


def _slip(text: str, chance: random.Random) -> str:
    """``text`` with two letters of its longest word swapped."""
    longest = max(text.split(), key=len)
    at = chance.randrange(1, len(longest) - 1)
    return text.replace(longest, longest[:at] + longest[at + 1] + longest[at] + longest[at + 2 :], 1)


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    """The words by rank, and their weights added up."""
    count = len(_SYLLABLES)
    words = [word for word in sorted(STOP_WORDS) if word.isascii() and word.isalpha()]
    for rank in range(len(words), VOCABULARY):
        number = rank * _STRIDE % count**3
        first, second, third = number // count**2, number // count % count, number % count
        word = _SYLLABLES[first] + _SYLLABLES[second]
        if rank < _SHORT:
            first, second = divmod(rank * 37 % count**2, count)
            word = _SYLLABLES[first] + _SYLLABLES[second]
        elif rank < _MIDDLE:
            word += _SYLLABLES[third]
        else:
            word += _SYLLABLES[third] + _CODAS[rank % len(_CODAS)]
        if rank >= _SHORT and rank % NAMES_EVERY == 0:
            word = f"{word}{words[rank % _SHORT].title()}"
        words.append(word)
    return words, list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))


def _draw(chance: random.Random, count: int) -> list[str]:
    words, weights = _vocabulary()
    return chance.choices(words, cum_weights=weights, k=count)


def _word(chance: random.Random) -> str:
    while (word := _draw(chance, 1)[0]) in STOP_WORDS:
        pass
    return word


def _heading(chance: random.Random) -> str:
    text = " ".join(_word(chance) for _ in range(chance.randint(*HEADING_WORDS)))
    return text[0].upper() + text[1:]


def _sentences(words: list[str]) -> str:
    parts = (" ".join(words[start : start + 12]) for start in range(0, len(words), 12))
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)
