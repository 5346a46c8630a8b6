"""The command line, drawn from the CLI itself."""

from collections.abc import Iterator

import click

from specvino.portal.pages.page import Page
from specvino.portal.source import Source

HEAD = """\
# Commands

Every command says what it takes with `--help`; this page is what they say.
"""


def pages(source: Source) -> Iterator[Page]:
    yield Page("commands.md", "Commands", "".join(_text()))


def _text() -> Iterator[str]:
    # The only place outside of cli/ that reads it: the commands are what is described here.
    import typer

    from specvino.cli.main import app

    yield HEAD
    yield from _command(typer.main.get_command(app), "specvino", None)


def _command(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, info_name=name.rsplit(" ", 1)[-1], parent=parent)
    if parent is not None:
        yield f"\n## {name} {{ #{name.replace(' ', '-')} }}\n\n{(command.help or '').strip()}\n"
        if not isinstance(command, click.Group) or command.params:
            yield f"\n```text\n{' '.join(command.collect_usage_pieces(context)) and _usage(command, context, name)}\n```\n"
        yield from _options(command, context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None and not below.hidden:
                yield from _command(below, f"{name} {each}", context)


def _usage(command: click.Command, context: click.Context, name: str) -> str:
    return f"{name} {' '.join(command.collect_usage_pieces(context))}"


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    records = [record for each in command.get_params(context) if (record := each.get_help_record(context))]
    records = [(name, said) for name, said in records if name != "--help"]
    if records:
        yield "\n| option | what it does |\n| --- | --- |\n"
        for name, said in records:
            yield f"| `{name}` | {said.replace('|', chr(92) + '|')} |\n"
