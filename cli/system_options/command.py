"""The command `serve`, which also accepts the options of the system that `--dialect` names."""

import os
from collections.abc import Iterator
from itertools import takewhile, zip_longest
from typing import Any

import typer
from typer.core import TyperOption

from specvino.cli.settings import SettingsCommand
from specvino.cli.system_options import table as tables
from specvino.cli.system_options.reading import OptionError, Own, Read, read
from specvino.cli.system_options.table import Table, effect
from specvino.document.loading import dialects
from specvino.document.system_fields import system_name
from specvino.generated.systems import SYSTEMS

DIALECT = "--dialect"

# The key of the system's table in the context.
TABLE = "specvino.system_options"


class SystemCommand(SettingsCommand):
    """A command that accepts the options of the system that `--dialect` names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        system = _dialect(args)
        table = tables.read(system_name(system)) if system in dialects() else None
        if table is None:
            own = dict(self._own(ctx))
            for name in _option_names(args):
                if name not in own and (whose := _whose(name)):
                    ctx.fail(whose)
            return super().parse_args(ctx, args)
        ctx.meta[TABLE] = table
        try:
            line = read(args, table, dict(self._own(ctx)))
        except OptionError as error:
            ctx.fail(str(error))
        os.environ.update(line.environment)
        rest = self._parse(ctx, line)
        for note in line.without_effect:
            typer.echo(f"specvino: {note}", err=True)
        return rest

    def _parse(self, ctx: Any, line: Read) -> list[str]:
        try:
            return super().parse_args(ctx, line.arguments)
        except typer.BadParameter as error:
            # Errors contain the option as it was given.
            if error.param is not None and error.param_hint is None:
                error.param_hint = " / ".join(dict.fromkeys(line.under(name) for name in error.param.opts))
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        table: Table | None = ctx.meta.get(TABLE)
        if table is None or not table.options:
            return
        with formatter.section(f"Options of `{table.line}` ({table.version})"):
            formatter.write_dl(list(_help(table)))

    def _own(self, ctx: Any) -> Iterator[tuple[str, Own]]:
        for option in self.get_params(ctx):
            if isinstance(option, TyperOption):
                own = Own(not option.is_flag, option.multiple)
                yield from ((name, own) for name in [*option.opts, *option.secondary_opts])


def _dialect(args: list[str]) -> str | None:
    """Returns the system named on a command line, before it is parsed."""
    for argument, following in zip_longest(args, args[1:]):
        name, joined, value = argument.partition("=")
        if name == DIALECT:
            return value if joined else following
    return os.environ.get("SPECVINO_DIALECT")


def _option_names(args: list[str]) -> Iterator[str]:
    """Yields the names of the options on a command line, before it is parsed."""
    for argument in takewhile(lambda argument: argument != "--", args):
        if argument.startswith("-"):
            yield argument.partition("=")[0]


def _whose(name: str) -> str | None:
    """Returns whose option this is, and what it would do here; None if no system has it."""
    effects: dict[str, list[str]] = {}
    for system in SYSTEMS:
        table = tables.read(system)
        if table and (option := table.named(name)):
            effects.setdefault(effect(option.meaning) or "Without effect here.", []).append(system)
    if not effects:
        return None
    of = " and ".join(
        f"{' and '.join(SYSTEMS[system] for system in owners)} ({words[0].lower()}{words[1:].rstrip('.')})"
        for words, owners in effects.items()
    )
    (first, *_), *_ = effects.values()
    return f"{name} is an option of {of}. With --dialect {first}, it is accepted as it is."


def _help(table: Table) -> Iterator[tuple[str, str]]:
    """Yields the options that have an effect or are refused, with their descriptions."""
    meanings = [meaning for source in table.sources.values() for meaning in source]
    for meaning in meanings:
        if (words := effect(meaning)) is not None:
            yield ", ".join(meaning.names), words
    rest = sum(len(meaning.names) for meaning in meanings if effect(meaning) is None)
    yield f"{rest} more", "These are accepted but have no effect. Those given are listed at startup."
