"""The command `serve`, which takes a system's options beside its own where `--dialect` names one."""

import os
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from specvino.cli.system_options import table as tables
from specvino.cli.system_options.reading import OptionError, Own, Read, read
from specvino.cli.system_options.table import Table, effect
from specvino.document.loading import systems

DIALECT = "--dialect"

# Under which the context keeps the table of the system that was named.
TABLE = "specvino.system_options"


class SystemCommand(TyperCommand):
    """Reads a command line in the options of the system that `--dialect` names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        system = _dialect(args)
        found = tables.read(system) if system in systems() else None
        if found is None:
            return super().parse_args(ctx, args)
        ctx.meta[TABLE] = found
        try:
            said = read(args, found, dict(self._own(ctx)))
        except OptionError as error:
            ctx.fail(str(error))
        os.environ.update(said.environment)
        rest = self._parse(ctx, said)
        for line in said.without_effect:
            typer.echo(f"specvino: {line}", err=True)
        return rest

    def _parse(self, ctx: Any, said: Read) -> list[str]:
        try:
            return super().parse_args(ctx, said.arguments)
        except typer.BadParameter as error:
            # An option is blamed under the name by which it was given.
            if error.param is not None and error.param_hint is None:
                error.param_hint = " / ".join(dict.fromkeys(said.under(each) for each in error.param.opts))
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        found: Table | None = ctx.meta.get(TABLE)
        if found is None or not found.options:
            return
        with formatter.section(f"Options of `{found.line}` ({found.version})"):
            formatter.write_dl(list(_help(found)))

    def _own(self, ctx: Any) -> Iterator[tuple[str, Own]]:
        for each in self.get_params(ctx):
            if isinstance(each, TyperOption):
                own = Own(not each.is_flag, each.multiple)
                yield from ((name, own) for name in [*each.opts, *each.secondary_opts])


def _dialect(args: list[str]) -> str | None:
    """Returns the system that a command line names, before it is read."""
    for said, following in zip_longest(args, args[1:]):
        name, joined, value = said.partition("=")
        if name == DIALECT:
            return value if joined else following
    return None


def _help(table: Table) -> Iterator[tuple[str, str]]:
    """Yields what has an effect, or is refused, with what it is here."""
    meanings = [meaning for source in table.sources.values() for meaning in source]
    for meaning in meanings:
        if (words := effect(meaning)) is not None:
            yield ", ".join(meaning.names), words
    rest = sum(len(meaning.names) for meaning in meanings if effect(meaning) is None)
    yield f"{rest} more", "They are accepted and have no effect; those that are given are named at the start."
