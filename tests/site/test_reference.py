"""The reference tells of everything that is public in the harness, as the code has it."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from pathlib import Path

import pytest

import py_agent
from py_agent.model.base import Record
from py_agent.model.errors import AgentError
from py_agent.site.reference import OUTSIDE, Undocumented, read_reference, write_reference

#: Modules that only a page can import.
PAGE_ONLY = ("py_agent.browser.host", "py_agent.browser.fetch", "py_agent.browser.clock", "py_agent.browser.wires")


@pytest.fixture(scope="module")
def page() -> str:
    return write_reference(read_reference())


@pytest.fixture(scope="module", autouse=True)
def everything_imported() -> None:
    for module in pkgutil.walk_packages(py_agent.__path__, "py_agent."):
        room = module.name.split(".")[1]
        if room not in {"site", "testing", "evals", "cli"} and not module.name.startswith(PAGE_ONLY):
            importlib.import_module(module.name)


def subclasses(kind: type) -> set[type]:
    return {kind} | {found for child in kind.__subclasses__() for found in subclasses(child)}


def is_harness(kind: type) -> bool:
    parts = kind.__module__.split(".")
    return parts[0] == "py_agent" and parts[1] not in {name.removesuffix(".py") for name in OUTSIDE}


def test_every_error_of_the_harness_is_in_it_with_its_codes(page: str) -> None:
    errors = [kind for kind in subclasses(AgentError) if is_harness(kind)]
    assert len(errors) >= 15
    for kind in errors:
        assert f"### {kind.__name__}\n" in page, kind
        assert f"| `{kind.code}` | {kind.__name__} |" in page or "code" not in vars(kind), kind
    for code in ("window_too_small", "not_allowed", "bad_answer", "trace_newer", "overflow"):
        assert f"| `{code}` |" in page


def test_every_event_is_in_it_with_its_fields(page: str) -> None:
    kinds = [
        kind
        for kind in subclasses(Record)
        if kind.__module__.startswith("py_agent.runner.") and "type" in kind.model_fields
    ]
    assert len(kinds) > 15
    for kind in kinds:
        section = page.split(f"### {kind.__name__}\n", 1)[1].split("\n### ", 1)[0]
        for name in kind.model_fields:
            assert f"| `{name}` |" in section, (kind, name)


def test_every_primitive_is_in_it(page: str) -> None:
    for name in (
        "Thought", "Tokenizable", "Retrievable", "Memory", "StandingInstruction", "Identity", "Media", "ToolCall",
        "Tool", "ToolRegistry", "StoredMessage", "Passage", "Plan", "Prompt", "GateRequest", "AgentConfig",
    ):  # fmt: skip
        assert f"### {name}\n" in page, name


def test_every_documented_constant_is_in_it_with_its_reason(page: str) -> None:
    found = 0
    for path in Path(py_agent.__file__).parent.rglob("*.py"):
        if path.relative_to(Path(py_agent.__file__).parent).parts[0] in OUTSIDE:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for before, line in itertools.pairwise(lines):
            name = line.split(" ")[0].split(":")[0].split(",")[0]
            if before.startswith("#:") and name.isupper() and not name.startswith("_"):
                found += 1
                assert f"`{name}" in page, (path, name)
    assert found > 60


@pytest.mark.parametrize(
    ("source", "name"),
    [("class Open:\n    x = 1\n", "Open"), ("LIMIT = 3\n", "LIMIT"), ("#: Why.\nA = 1\nB = 2\n\nC = 3\n", "C")],
)
def test_what_is_undocumented_fails_the_build_by_name(tmp_path: Path, source: str, name: str) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "new.py").write_text(source)
    with pytest.raises(Undocumented, match=name):
        read_reference(tmp_path)


def test_it_stands_in_the_site(tmp_path: Path) -> None:
    from py_agent.site.door.demo import build_docs

    site = build_docs(Path(py_agent.__file__).parents[1])
    text = (site / "reference" / "index.html").read_text(encoding="utf-8")
    assert "MAX_SAME_RUNS" in text
    assert 'href="../reference/"' in (site / "architecture" / "index.html").read_text(encoding="utf-8")
