"""Writing an index: passages, postings with precomputed BM25F impacts, and the manifest that names them.

The format is described in ``py_agent.search.files``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from py_agent.model.errors import ConfigError
from py_agent.search.files import FORMAT, MAX_IMPACT
from py_agent.search.tokens import TOKENIZER, terms
from py_agent.site.address import page_url, with_fragment
from py_agent.site.chunk import Piece
from py_agent.site.read import Page

#: BM25F weight of each field: a word in the leaf heading says more than one in the text.
WEIGHTS = {"heading": 3.0, "path": 1.0, "title": 1.0, "text": 1.0}
#: Saturation of a word's weight, and how much the length of a field counts (low: long passages are cut anyway).
K1 = 1.2
B = 0.4
#: Where the manifest lies when nobody says otherwise: ``SITE/agent/index/manifest.json``.
DEFAULT_BASE_URL = "../../"
_NOTES = re.compile(
    r"change[-_ ]?log|changes\b|release[-_ ]?notes?|whats[-_ ]?new|what[’']?s new|version history|release history"
    r"|\bnews\b|\breleases?[-_ ]v?\d",
    re.IGNORECASE,
)
_HASH_CHARS = 12


def write_index(
    pages: Sequence[Page], out: Path, *, title: str = "", base_url: str = DEFAULT_BASE_URL, clean_urls: bool = False
) -> dict[str, Any]:
    """Writes the index of ``pages`` into the folder ``out`` and returns its manifest. Files of an index that was there
    before are removed after the new manifest is in place, so a reader never meets half of each.

    Raises:
        ConfigError: There is no passage to index, or ``out`` cannot be written.
    """
    if not pages:
        raise ConfigError(
            "There is nothing to index: no page gave any text.", hint="See the reasons above.", code="no_site"
        )
    rows = [(page, piece) for page in pages for piece in page.pieces]
    passages = "".join(_line(_passage(page, piece, clean_urls)) for page, piece in rows).encode()
    postings, averages, heads = _postings(rows)
    header = {
        "pages": _page_table(pages),
        "heads": heads,
        "places": _places(rows),
        "notes": [int(_is_notes(p)) for p, _ in rows],
    }
    table = [_line(header)] + [_line([term, postings[term]]) for term in sorted(postings, key=str.encode)]
    contents = {"terms": "".join(table).encode(), "passages": passages}
    files: dict[str, dict[str, Any]] = {}
    for name, data in contents.items():
        digest = hashlib.sha256(data).hexdigest()
        files[name] = {"path": f"{name}-{digest[:_HASH_CHARS]}.jsonl", "bytes": len(data), "sha256": digest}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "build_id": hashlib.sha256("".join(file["sha256"] for file in files.values()).encode()).hexdigest()[
            :_HASH_CHARS
        ],
        "title": title or _site_title(pages),
        "language": _language(pages),
        "base_url": base_url,
        "pages": len(pages),
        "passages": len(rows),
        "files": files,
        "tokenizer": TOKENIZER,
        "averages": averages,
    }
    _write(out, {files[name]["path"]: data for name, data in contents.items()}, manifest)
    return manifest


def _write(out: Path, contents: dict[str, bytes], manifest: dict[str, Any]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path, data in contents.items():
            (out / path).write_bytes(data)
        new = out / "manifest.json.new"
        new.write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        new.replace(out / "manifest.json")
        for old in [*out.glob("terms-*.jsonl"), *out.glob("passages-*.jsonl")]:
            if old.name not in contents:
                old.unlink()
    except OSError as error:
        raise ConfigError(
            f"The index cannot be written to {out}: {error.strerror or error}.",
            hint="Give another folder with --out.",
            code="no_out",
        ) from error


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def _passage(page: Page, piece: Piece, clean_urls: bool) -> dict[str, Any]:
    url = with_fragment(page_url(page.page, clean_urls=clean_urls), piece.anchor, piece.fragment)
    return {"anchor": piece.anchor, "url": url, "path": piece.path, "text": piece.text}


def _page_table(pages: Sequence[Page]) -> list[tuple[str, str, int]]:
    table, first = [], 0
    for page in pages:
        table.append((page.page, page.title, first))
        first += len(page.pieces)
    return table


def _places(rows: Sequence[tuple[Page, Piece]]) -> list[int]:
    numbers: dict[tuple[str, str, str], int] = {}
    return [numbers.setdefault((page.page, piece.anchor, piece.fragment), len(numbers)) for page, piece in rows]


def _is_notes(page: Page) -> bool:
    path = PurePosixPath(page.page)
    return bool(_NOTES.search(path.with_suffix("").as_posix()) or _NOTES.search(page.title))


def _postings(rows: Sequence[tuple[Page, Piece]]) -> tuple[dict[str, list[int]], dict[str, float], list[int]]:
    counted = [_fields(page, piece) for page, piece in rows]
    averages = {field: sum(sum(c[field].values()) for c in counted) / len(counted) for field in WEIGHTS}
    postings: dict[str, list[int]] = {}
    last: dict[str, int] = {}
    for number, fields in enumerate(counted):
        weights: dict[str, float] = {}
        for field, counts in fields.items():
            length = sum(counts.values()) / (averages[field] or 1.0)
            scale = WEIGHTS[field] / (1 - B + B * length)
            for term, count in counts.items():
                weights[term] = weights.get(term, 0.0) + scale * count
        for term, weight in weights.items():
            impact = max(1, round(MAX_IMPACT * weight / (K1 + weight)))
            values = postings.setdefault(term, [])
            values += (number - last.get(term, 0), impact * 2 + (term in fields["heading"]))
            last[term] = number
    heads = [len(fields["heading"]) for fields in counted]
    return postings, {field: round(value, 2) for field, value in averages.items()}, heads


def _fields(page: Page, piece: Piece) -> dict[str, Counter[str]]:
    return {
        "heading": Counter(terms(piece.path[-1] if piece.path else page.title)),
        "path": Counter(terms("\n".join(piece.path[:-1]))),
        "title": Counter(terms(page.title)),
        "text": Counter(terms(piece.text)),
    }


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
