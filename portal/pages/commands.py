"""The pages of the command line, made from the CLI itself."""

from collections.abc import Iterator
from typing import Any

import typer

from specvino.portal.pages import Page, cell

HEAD = """\
# Commands

What each command takes, as it says itself with `--help`.
"""


def pages(app: typer.Typer) -> Iterator[Page]:
    yield Page("commands.md", "Commands", "".join(_text(app)))


def _text(app: typer.Typer) -> Iterator[str]:
    command = typer.main.get_group(app)
    context = typer.Context(command, info_name="specvino")
    yield HEAD
    yield from _options(command, context)
    for name, below in command.commands.items():
        yield from _command(below, name, context)


def _command(command: Any, name: str, parent: typer.Context) -> Iterator[str]:
    context = typer.Context(command, info_name=name, parent=parent)
    below = getattr(command, "commands", {})  # of a group
    if not below or command.invoke_without_command:
        path = context.command_path
        pieces = [piece for piece in command.collect_usage_pieces(context) if not piece.startswith("COMMAND")]
        yield f"\n## {path} {{ #{path.replace(' ', '-')} }}\n\n{command.help}\n"
        yield f"\n```text\n{' '.join([path, *pieces])}\n```\n"
        yield from _options(command, context)
    for subcommand, inner in below.items():
        yield from _command(inner, subcommand, context)


def _options(command: Any, context: typer.Context) -> Iterator[str]:
    records = filter(None, (parameter.get_help_record(context) for parameter in command.get_params(context)))
    described = [(name, help_text) for name, help_text in records if name != "--help"]
    if described:
        yield "\n| option | what it does |\n| --- | --- |\n"
        yield from (f"| `{name.strip()}` | {cell(help_text)} |\n" for name, help_text in described)
