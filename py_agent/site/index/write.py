"""Writes an index: packs its shards, lists them in a directory, and names that in a manifest.

The format is described in ``py_agent.search`` (``manifest``, ``directory``, ``postings``, ``texts``, ``repair``).
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from py_agent.model.errors import ConfigError
from py_agent.search.fold import Fold, to_json
from py_agent.search.manifest import FORMAT, Manifest
from py_agent.search.shards import digest_of, pack, shard_name
from py_agent.search.stopwords import STOP_WORDS
from py_agent.search.tokens import TOKENIZER, Tokenizer
from py_agent.site.chunk import Piece
from py_agent.site.index.postings import Rows, Vocabulary, vocabulary
from py_agent.site.index.semantic import code_shards, semantic_entry, word_shards
from py_agent.site.index.texts import page_shards, text_shards
from py_agent.site.index.typos import typo_shards
from py_agent.site.read import Page
from py_agent.site.semantic.build import Semantic

#: Where the manifest lies when nobody says otherwise: ``SITE/agent/index/manifest.json``.
DEFAULT_BASE_URL = "../../"
#: Shards of one kind that the directory lists itself, some 10 kB packed: a site of 3,000 pages has so many, and a
#: catalog would cost its readers one more round trip. Beyond, every reader would pay for the names of all shards.
FLAT_SHARDS = 1_024
#: Shards that a catalog lists: 2 kB packed, so that the five passages of an answer cost 10 kB of catalogs at most.
CATALOG_SHARDS = 256
_NOTES = re.compile(
    r"change[-_ ]?log|changes\b|release[-_ ]?notes?|whats[-_ ]?new|what[’']?s new|version history|release history"
    r"|\bnews\b|\breleases?[-_ ]v?\d",
    re.IGNORECASE,
)
#: Files that an index consists of: those of an older one are removed.
_OURS = re.compile(
    r"(?:directory|catalogs|terms|lists|typos|texts|pages|words|codes)-[0-9a-f]{12}\.bin|(?:terms|passages)-\w+\.jsonl"
)


def write_index(
    pages: Sequence[Page],
    out: Path,
    *,
    title: str = "",
    base_url: str = DEFAULT_BASE_URL,
    clean_urls: bool = False,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    progress: Callable[[], None] | None = None,
    meaning: Callable[[Rows, Vocabulary, Tokenizer], Semantic] | None = None,
) -> Manifest:
    """Writes the index of ``pages`` into the folder ``out`` and returns its manifest. Files of an index that was there
    before are removed after the new manifest is in place, so a reader never meets half of each.

    Args:
        pages: What ``read_site`` read.
        out: The folder.
        title: The site's name; empty: what most pages say.
        base_url: The site's root, relative to the manifest, or absolute.
        clean_urls: The host serves ``page.html`` as ``page``.
        synonyms: Words that are searched along with others, as ``read_synonyms`` gives them.
        progress: Called once a passage.
        meaning: Makes the vectors; None: the index has none.

    Raises:
        ConfigError: There is no passage to index, or ``out`` cannot be written.
    """
    if not pages:
        raise ConfigError(
            "There is nothing to index: no page gave any text.", hint="See the reasons above.", code="no_site"
        )
    pages = sorted(pages, key=lambda page: page.page)
    rows = [(page, piece) for page in pages for piece in page.pieces]
    table = to_json(_blocks(rows))
    tokenizer = Tokenizer(Fold.of_table(table))
    words = vocabulary(rows, tokenizer, _is_notes, progress)
    writer = _Writer(out)
    shards = {
        "terms": writer.shards("terms", words.shards),
        "lists": writer.shards("lists", [(None, data) for data in words.lists]),
        "typos": writer.shards("typos", typo_shards(words.frequency)),
        "texts": writer.shards("texts", text_shards(rows, clean_urls=clean_urls)),
        "pages": writer.shards("pages", page_shards(pages)),
    }
    semantic = meaning(rows, words, tokenizer) if meaning is not None else None
    if semantic is not None:
        shards["words"] = writer.shards("words", word_shards(semantic))
        shards["codes"] = writer.shards("codes", [(None, content) for content in code_shards(semantic)])
    directory = {
        "fold": table,
        "stop": sorted(STOP_WORDS),
        "synonyms": _folded(synonyms or {}, tokenizer),
        "notes": _runs(number for number, (page, _) in enumerate(rows) if _is_notes(page)),
        "same": base64.b64encode(_same(rows)).decode(),
        "shards": shards,
        "semantic": semantic_entry(semantic) if semantic is not None else None,
    }
    name = writer.shard("directory", _packed(directory))
    manifest = Manifest(
        format=FORMAT,
        build_id=name,
        title=title or _site_title(pages),
        language=_language(pages),
        base_url=base_url,
        pages=len(pages),
        passages=len(rows),
        tokenizer=TOKENIZER,
        directory=shard_name("directory", name),
        semantic=semantic is not None,
    )
    writer.finish(manifest)
    return manifest


class _Writer:
    """The files of one index on their way into its folder."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._written: set[str] = set()

    def shard(self, kind: str, content: bytes) -> str:
        """Writes a shard; returns the hash in its name."""
        digest = digest_of(content)
        name = shard_name(kind, digest)
        self._written.add(name)
        try:
            self._out.mkdir(parents=True, exist_ok=True)
            (self._out / name).write_bytes(pack(content))
        except OSError as error:
            raise self._refused(error) from error
        return digest

    def shards(self, kind: str, contents: Iterable[tuple[Any, bytes]]) -> dict[str, Any]:
        """Writes the shards of a kind, each with the first thing in it; returns their entry of the directory."""
        found = [(first, self.shard(kind, content)) for first, content in contents]
        if len(found) <= FLAT_SHARDS:
            return _listed(found)
        catalogs = []
        for start in range(0, len(found), CATALOG_SHARDS):
            part = found[start : start + CATALOG_SHARDS]
            catalogs.append((part[0][0], self.shard("catalogs", _packed(_listed(part)))))
        return {**_listed(catalogs), "count": len(found), "each": CATALOG_SHARDS}

    def finish(self, manifest: Manifest) -> None:
        """Puts the manifest in place, then removes what an older one named."""
        text = json.dumps(manifest.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
        try:
            new = self._out / "manifest.json.new"
            new.write_text(text, encoding="utf-8")
            new.replace(self._out / "manifest.json")
            for old in self._out.iterdir():
                if _OURS.fullmatch(old.name) and old.name not in self._written:
                    old.unlink()
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"The index cannot be written to {self._out}: {error.strerror or error}.",
            hint="Give another folder with --out.",
            code="no_out",
        )


def _listed(found: Sequence[tuple[Any, str]]) -> dict[str, Any]:
    """A list of shards as it is written: what each begins with, where that is known, and the hashes in their names."""
    entry: dict[str, Any] = {"names": "".join(digest for _, digest in found)}
    if found and found[0][0] is not None:
        entry["first"] = [first for first, _ in found]
    return entry


def _packed(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _blocks(rows: Sequence[tuple[Page, Piece]]) -> set[int]:
    """Blocks of 256 characters that the site has characters of."""
    found: set[int] = set()
    seen: set[str] = set()
    for page, piece in rows:
        for text in (page.title, *piece.path, piece.text):
            if not text.isascii():
                seen.update(text)
    found.update(ord(char) >> 8 for char in seen)
    return found


def _same(rows: Sequence[tuple[Page, Piece]]) -> bytes:
    bits = bytearray((len(rows) + 7) // 8)
    for number in range(1, len(rows)):
        (page, piece), (before, earlier) = rows[number], rows[number - 1]
        if page is before and (piece.anchor, piece.fragment) == (earlier.anchor, earlier.fragment):
            bits[number >> 3] |= 1 << (number & 7)
    return bytes(bits)


def _runs(numbers: Iterable[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and sum(runs[-1]) == number:
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return runs


def _folded(synonyms: Mapping[str, Sequence[str]], tokenizer: Tokenizer) -> dict[str, list[str]]:
    """Synonyms as terms: each stands for its word as a whole."""
    found: dict[str, list[str]] = {}
    for word, others in synonyms.items():
        for term in _whole(word, tokenizer):
            known = found.setdefault(term, [])
            known += [one for other in others for one in _whole(other, tokenizer) if one != term and one not in known]
    return found


def _whole(word: str, tokenizer: Tokenizer) -> list[str]:
    return [one.whole for one in tokenizer.words(word) if one.whole is not None]


def _is_notes(page: Page) -> bool:
    path = PurePosixPath(page.page)
    return bool(_NOTES.search(path.with_suffix("").as_posix()) or _NOTES.search(page.title))


def _site_title(pages: Sequence[Page]) -> str:
    names = Counter(page.site_title for page in pages if page.site_title)
    if names:
        name, count = names.most_common(1)[0]
        if count * 2 > len(pages):
            return name
    front = next((page for page in pages if page.page in ("index.html", "index.htm")), pages[0])
    return front.title


def _language(pages: Sequence[Page]) -> str:
    languages = Counter(page.language for page in pages if page.language)
    return languages.most_common(1)[0][0] if languages else ""
