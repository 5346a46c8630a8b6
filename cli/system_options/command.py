"""The command `serve`, which also accepts the options of the system that `--dialect` names."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperArgument, TyperOption

from specvino.cli.settings import SettingsCommand, leave_to_caller, values_of
from specvino.cli.system_options import table as tables
from specvino.cli.system_options.in_file import arguments_of
from specvino.cli.system_options.reading import PLUGIN_CONFIG, Given, OptionError, Own, Read, finish, read
from specvino.cli.system_options.table import MODEL, Table, effect, plain
from specvino.document.loading import dialects
from specvino.document.system_fields import system_name
from specvino.generated.systems import SYSTEMS

DIALECT = "--dialect"
CONFIG = "--config"

# The key of the system's table in the context.
TABLE = "specvino.system_options"


class SystemCommand(SettingsCommand):
    """A command that accepts the options of the system that `--dialect` names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        file, values = self._file(ctx, args)
        system = _named(DIALECT, "SPECVINO_DIALECT", args) or values.get(DIALECT[2:])
        table = tables.read(system_name(system)) if system in dialects() else None
        own = dict(self._own(ctx))
        if table is None:
            for name in _unknown_options(args, own) if system is None else ():
                if whose := _whose(name):
                    ctx.fail(whose)
            return super().parse_args(ctx, args)
        ctx.meta[TABLE] = table
        try:
            line = read(args, table, own)
            self._have_variables(ctx, line)
            elsewhere = self._set_by_variables(ctx)
            if file:
                leave_to_caller(ctx, file)
                line.have_defaults(self._of_file(ctx, file, values, table, own), elsewhere)
            finish(line, table, own, elsewhere)
        except OptionError as error:
            ctx.fail(str(error))
        os.environ.update(line.environment)
        rest = self._parse(ctx, line)
        for note in line.without_effect:
            typer.echo(f"specvino: {note}", err=True)
        return rest

    def _file(self, ctx: Any, args: list[str]) -> tuple[Path | None, dict[str, Any]]:
        """Returns the file of options that a command line names, before it is parsed, and what is in it. Help and
        completion need nothing of it but the system, and no file."""
        path = _named(CONFIG, "SPECVINO_CONFIG", args)
        if path is None:
            return None, {}
        shows = ctx.resilient_parsing or not set(ctx.help_option_names).isdisjoint(_option_names(args))
        if shows:
            leave_to_caller(ctx, Path(path))
        try:
            values = values_of(Path(path))
        except typer.BadParameter as error:
            if shows:
                return None, {}
            error.param_hint = CONFIG
            raise
        return None if shows else Path(path), values

    def _have_variables(self, ctx: Any, line: Read) -> None:
        """Gives a line what the environment has that isn't read from there: properties of the plugin, since those of
        options are merged into them. Removes variables that the line's options exclude."""
        variables = {option.opts[0]: option for option in self.get_params(ctx) if isinstance(option, TyperOption)}
        for name, excluded in line.excluded.items():
            if name in line.environment:
                os.environ.pop(str(variables[excluded].envvar), None)
        if config := variables[PLUGIN_CONFIG].value_from_envvar(ctx):
            variable = Given(PLUGIN_CONFIG, str(config), PLUGIN_CONFIG, str(variables[PLUGIN_CONFIG].envvar))
            line.have_defaults(Read([variable]), set())

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

    def _of_file(self, ctx: Any, file: Path, values: Mapping[str, Any], table: Table, own: Mapping[str, Own]) -> Read:
        """Returns what a file has, under names of the system or ours. Raises OptionError."""
        names = {
            plain(f"--{option.name}"): option.opts[0]
            for option in self.get_params(ctx)
            if isinstance(option, TyperOption) and option.name
        }
        named = {plain(f"--{key}"): value for key, value in values.items()}
        ours = {name if table.named(name) else names.get(name, name): value for name, value in named.items()}
        try:
            if CONFIG in ours:
                raise OptionError(f"unknown option {CONFIG}.")
            line = read(arguments_of(ours, table, own), table, own)
        except OptionError as error:
            raise OptionError(f"in the file of {CONFIG}: {error}") from None
        line.given = [replace(given, origin=str(file)) for given in line.given]
        return line

    def _set_by_variables(self, ctx: Any) -> set[str]:
        """Returns the options, or MODEL, that environment variables set, and the variables that are set."""
        set_here = [parameter for parameter in self.get_params(ctx) if parameter.value_from_envvar(ctx) is not None]
        options = {name for parameter in set_here for name in parameter.opts if isinstance(parameter, TyperOption)}
        variables = {name for name, value in os.environ.items() if value}
        return options | variables | {MODEL for parameter in set_here if isinstance(parameter, TyperArgument)}


def _named(option: str, variable: str, args: list[str]) -> str | None:
    """Returns the value of an option before the command line is parsed: the last one, as the parser does."""
    options = list(takewhile(lambda argument: argument != "--", args))
    named = os.environ.get(variable) or None
    for argument, following in zip_longest(options, options[1:]):
        name, joined, value = argument.partition("=")
        if name == option:
            named = value if joined else following
    return named


def _option_names(args: list[str]) -> Iterator[str]:
    """Yields the names of the options on a command line, before it is parsed."""
    for argument in takewhile(lambda argument: argument != "--", args):
        if argument.startswith("-"):
            yield argument.partition("=")[0]


def _unknown_options(args: list[str], own: Mapping[str, Own]) -> Iterator[str]:
    """Yields the names of options on a command line, before it is parsed, that aren't our own."""
    is_value = False
    for argument in takewhile(lambda argument: argument != "--", args):
        name, joined, _ = argument.partition("=")
        if argument.startswith("-") and name not in own and not is_value:
            yield name
        is_value = name in own and own[name].takes_value and not joined


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
        f"{', '.join(SYSTEMS[system] for system in owners)} ({words[0].lower()}{words[1:].rstrip('.')})"
        for words, owners in effects.items()
    )
    (first, *_), *_ = effects.values()
    return f"{name} is an option of {of}. Use --dialect {first} to accept it."


def owner(name: str) -> str | None:
    """Returns the first system whose server has an option of this name; None if none has it."""
    tables_of = ((system, tables.read(system)) for system in SYSTEMS)
    return next((system for system, table in tables_of if table and table.named(name)), None)


def _help(table: Table) -> Iterator[tuple[str, str]]:
    """Yields the options that have an effect or are refused, with their descriptions."""
    meanings = [meaning for source in table.sources.values() for meaning in source]
    for meaning in meanings:
        if (words := effect(meaning)) is not None:
            yield ", ".join(meaning.names), words
    rest = sum(len(meaning.names) for meaning in meanings if effect(meaning) is None)
    yield f"{rest} more", "These are accepted but have no effect. Those given are listed at startup."
