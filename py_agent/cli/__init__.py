"""The command line: ``py-agent index | search | ask | replay | build | serve | eval``."""

from __future__ import annotations

from typing import Any

import click

from py_agent.cli.ask import ask, replay_command
from py_agent.cli.evaluate import eval_group
from py_agent.cli.index import index
from py_agent.cli.place import build, serve
from py_agent.cli.search import search
from py_agent.model.errors import AgentError


class _Group(click.Group):
    """Turns the product's own errors into one line and exit status 1; anything else is a bug and shows as such."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AgentError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="py-agent")
def main() -> None:
    """A docs chatbot that lives in the page: build its index, try it in the terminal, put it into a site."""


for _command in (index, search, ask, replay_command, build, serve, eval_group):
    main.add_command(_command)
