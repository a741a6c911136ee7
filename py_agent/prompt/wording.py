"""Renders the templates: every word that goes to a model, and the few fixed sentences that go to the reader."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined


def _load(name: str) -> str:
    return (resources.files("py_agent.prompt") / "templates" / name).read_text(encoding="utf-8")


@functools.cache
def _environment() -> Environment:
    # The output is a prompt, not HTML: escaping would change code. Data goes through envelopes.break_tokens instead.
    return Environment(
        loader=FunctionLoader(_load),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


async def warm_up(breathe: Callable[[], Awaitable[None]]) -> None:
    """Compiles every template, one at a time: in a page all of them together would hold the event loop too long."""
    for entry in sorted(resources.files("py_agent.prompt").joinpath("templates").iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".j2"):
            _environment().get_template(entry.name)
            await breathe()


def wording(name: str, **values: Any) -> str:
    """The template ``templates/NAME.j2``, filled in.

    Raises:
        jinja2.UndefinedError: A value that the template uses is missing: a programming error.
    """
    return _environment().get_template(f"{name}.j2").render(**values).strip()
