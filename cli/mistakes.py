"""One-line errors for wrong command lines: what is wrong, where, and a correction."""

import contextlib
import shlex
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperGroup

from specvino.cli.ending import end
from specvino.generated.systems import SYSTEMS

# What pydantic's errors say here, by their type; `value` is as it was given.
_REASONS = {
    "int_parsing": "{value!r} isn't an integer",
    "float_parsing": "{value!r} isn't a number",
    "bool_parsing": "{value!r} is neither true nor false",
    "greater_than_equal": "{value} is less than {ge}",
    "less_than_equal": "{value} is more than {le}",
}

# Names of commands in other programs (`hf cache`, `ollama list`), and ours.
_ELSEWHERE = {"cache": "models", "list": "models", "ls": "models"}


def suggestion(name: str, known: Iterable[str], otherwise: str = "", prefix: str = "--") -> str:
    """Returns "; did you mean …?" with the known name that is like this one, or `otherwise` if none is. A prefix that
    names may share isn't compared."""
    bare = {one.removeprefix(prefix): one for one in known}
    near = get_close_matches(name.removeprefix(prefix), bare, n=1, cutoff=0.7)
    return f"; did you mean {bare[near[0]]}?" if near else otherwise


class Commands(TyperGroup):
    """Commands; an unknown one is answered with those that there are."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            known = [name for name, command in self.commands.items() if not command.hidden]
            same = _ELSEWHERE.get(args[0])
            hint = f"; did you mean {same}?" if same in known else suggestion(args[0], known, ";")
            ctx.fail(f"unknown command {args[0]}{hint} available: {', '.join(known)}")
        return super().resolve_command(ctx, args)


class Program(Commands):
    """The program. Whichever command a mistake is in, it ends with one line."""

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        with _one_line():
            return super().make_context(*arguments, **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        name = args[0].partition("=")[0] if args else ""
        known = {name for parameter in self.get_params(ctx) for name in (*parameter.opts, *parameter.secondary_opts)}
        if name.startswith("-") and name not in known and not ctx.resilient_parsing:
            near = suggestion(name, known, "; `specvino -h` lists the commands")
            ctx.fail(self._where(name, args) or f"No such option: {name}{near}")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with _one_line():
            return super().invoke(ctx)

    def _where(self, option: str, args: list[str]) -> str | None:
        """Returns that an option is one of a command, ours or another system's; None if it is neither."""
        from specvino.cli.system_options import command as systems

        line = shlex.join(args)
        if name := _with_option(self, option):
            return f"{option} is an option of `specvino {name}`: try `specvino {name} {line}`"
        if system := systems.owner(option):
            server = f"`specvino serve --dialect {system} {line}`"
            return f"{option} is an option of {SYSTEMS[system]}, not a command of specvino: try {server}"
        return None


@contextlib.contextmanager
def _one_line() -> Iterator[None]:
    """Ends the process with one line if a command line is wrong."""
    try:
        yield
    except typer.BadParameter as error:
        end(_wrong_value(error))
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        if context and error.message == context.get_help():  # a group without a command
            raise
        hint = _hint(error, context)
        end(f"{error.message.rstrip('.')}{hint}" if hint else error.message)


def _hint(error: typer.TyperException, context: Any) -> str:
    """Returns what would be right, for a message that doesn't say it."""
    usage = f"; `{context.command_path} -h` shows the usage" if context else ""
    if not hasattr(error, "possibilities"):  # of an unknown option
        return usage if "unexpected extra argument" in error.message else ""
    # The parser has them in an order of their own.
    option = str(getattr(error, "option_name", ""))
    if elsewhere := context and _with_option(context.find_root().command, option):
        return f"; `specvino {elsewhere}` has it"
    return suggestion(option, error.possibilities or ()) or usage


def _with_option(program: TyperGroup, option: str) -> str | None:
    """Returns the first command with this option."""
    for name, command in program.commands.items():
        if any(option in (*parameter.opts, *parameter.secondary_opts) for parameter in command.params):
            return name
    return None


def _wrong_value(error: typer.BadParameter) -> str:
    """Returns what is wrong with a value, and with which one."""
    from pydantic import ValidationError

    parameter = error.param
    if error.param_hint is None and parameter is not None and parameter.param_type_name == "option":
        error.param_hint = " / ".join(parameter.opts)  # as it is typed
    if isinstance(error.__cause__, ValidationError):
        (wrong, *_) = error.__cause__.errors()
        value, choices = wrong["input"], getattr(parameter, "type_descriptor", None)
        if choices is not None and choices.choices:
            names = [str(choice.value) for choice in choices.choices]
            error.message = f"{value!r} isn't one of {', '.join(names)}{suggestion(str(value), names)}"
        elif wrong["type"] in _REASONS:
            error.message = _REASONS[wrong["type"]].format(value=value, **wrong.get("ctx", {}))
    return error.format_message()
