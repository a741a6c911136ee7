"""docs/command-line.md names every command and option that exists, and no other."""

import re
from pathlib import Path

import click

from py_agent.cli import main

PAGE = (Path(__file__).parents[1] / "docs" / "command-line.md").read_text()
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def commands(group: click.Group, prefix: str = "py-agent") -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= commands(command, f"{prefix} {name}")
        else:
            found[f"{prefix} {name}"] = command
    return found


def test_every_command_and_option_is_documented() -> None:
    found = commands(main)
    assert len(found) >= 6
    for name, command in found.items():
        assert name in PAGE, name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert any(option in PAGE for option in parameter.opts), f"{name} {parameter.opts}"


def test_no_option_is_documented_that_does_not_exist() -> None:
    known = {option for command in commands(main).values() for parameter in command.params for option in parameter.opts}
    about_build_py = {"--check"}
    assert set(OPTION.findall(PAGE)) - known - about_build_py <= {"--help"}
