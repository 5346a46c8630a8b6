"""A command whose options may be set by environment variables and a file, and whose help has groups.

The command line counts before the environment, that before the file, and the file before the defaults. An option is
named by its parameter: `--max-queue` is SPECVINO_MAX_QUEUE, and `max-queue` or `max_queue` in a file.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import yaml
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from specvino.cli.mistakes import suggestion
from specvino.document.yaml_text import UniqueKeys

PREFIX = "SPECVINO_"

# Variables that aren't of an option.
_OTHERS = ("SPECVINO_API_KEY", "SPECVINO_CACHE", "SPECVINO_DATA", "SPECVINO_METRICS_KEY")

# The key of the path of the file in the context, once it is read.
_FILE = "specvino.settings"


class SettingsCommand(TyperCommand):
    """A command that reads its options from the environment and a file, too."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument | TyperOption) and parameter.envvar is None:
                parameter.envvar = f"{PREFIX}{(parameter.name or '').upper()}"
                parameter.show_envvar = False  # the help states the rule once

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if error.param is not None and (origin := _origin(ctx, error.param)):
                error.param_hint = f"{error.param_hint or max(error.param.opts, key=len)} (from {origin})"
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                other = "Arguments" if parameter.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or other, []).append(record)
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)


def leave_to_caller(ctx: typer.Context, file: Path) -> None:
    """Leaves the options in a file to the caller."""
    ctx.meta[_FILE] = file


def read_settings(ctx: typer.Context, file: Path | None) -> Path | None:
    """Takes the values of a file, YAML or TOML, as defaults of the command's options. Raises BadParameter."""
    if file is None or ctx.resilient_parsing or _FILE in ctx.meta:
        return file
    ctx.meta[_FILE] = file
    parameters = {parameter.name: parameter for parameter in ctx.command.params}
    defaults: dict[str, Any] = {}
    given = set()
    for key, value in values_of(file).items():
        name = str(key).replace("-", "_")
        if name not in parameters or name == "config":
            known = [known.replace("_", "-") for known in parameters if known and known != "config"]
            raise typer.BadParameter(f"{file}: unknown option {key}{suggestion(name.replace('_', '-'), known)}")
        if name in given:
            raise typer.BadParameter(f"{file}: the option {key} is given twice")
        given.add(name)
        if value is not None:
            defaults[name] = _typed(value, repeatable=getattr(parameters[name], "multiple", False))
    ctx.default_map = defaults
    return file


def values_of(file: Path) -> dict[Any, Any]:
    """Returns what a file, YAML or TOML, says of options. Raises BadParameter."""
    try:
        with file.open(encoding="utf-8") as opened:  # YAML's errors name the file
            read = tomllib.loads(opened.read()) if file.suffix == ".toml" else yaml.load(opened, UniqueKeys)
    except OSError as error:
        raise typer.BadParameter(f"{file}: can't be read: {error.strerror}") from None
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise typer.BadParameter(
            f"{file}: isn't valid {'TOML' if file.suffix == '.toml' else 'YAML'}: {reason}"
        ) from None
    if read is None:  # a file without anything, or with comments only
        return {}
    if not isinstance(read, dict):
        raise typer.BadParameter(f"{file}: isn't a mapping of options to values")
    if isinstance(read.get("model"), list):
        raise typer.BadParameter(f"{file}: model is one model: list several under named-models, as NAME=MODEL")
    return read


def _typed(value: Any, *, repeatable: bool) -> Any:
    """Returns a value as the command line would have it: texts, but for switches; objects as JSON."""
    if repeatable:
        return [_typed(item, repeatable=False) for item in (value if isinstance(value, list) else [value])]
    if isinstance(value, dict | list):
        return json.dumps(value)
    return value if isinstance(value, bool) else str(value)


def _origin(ctx: typer.Context, parameter: Any) -> str | None:
    """Returns where a parameter's value is from, unless it is from the command line."""
    source = ctx.get_parameter_source(parameter.name)
    name = source.name if source else ""
    return {"ENVIRONMENT": parameter.envvar, "DEFAULT_MAP": str(ctx.meta.get(_FILE))}.get(name)


def _forget_links() -> None:
    """Removes the variables that Kubernetes and Docker set beside a service named specvino, such as
    SPECVINO_PORT=tcp://10.0.0.1:8000."""
    for name, value in list(os.environ.items()):
        is_address = name == f"{PREFIX}PORT" and "://" in value
        if is_address or re.fullmatch(rf"{PREFIX}(SERVICE_(HOST|PORT)|PORT_\d+_).*", name):
            del os.environ[name]


def leave_known_variables(program: Any) -> Iterator[str]:
    """Removes variables without effect from the environment, and yields a warning of each one that isn't a link. A
    process that this one starts would warn of them again."""
    _forget_links()
    known = {*_OTHERS, *_variables(program)}
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in known:
            del os.environ[name]
            yield f"the environment variable {name} has no effect{suggestion(name, sorted(known), prefix=PREFIX)}"


def _variables(command: Any) -> Iterator[str]:
    """Yields the environment variables of a command, and of those below it."""
    for parameter in command.params:
        variables = parameter.envvar or ()
        yield from [variables] if isinstance(variables, str) else variables
    if isinstance(command, TyperGroup):
        for below in command.commands.values():
            yield from _variables(below)
