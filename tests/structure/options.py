"""Tables of a command's options in our pages: names, defaults and descriptions come from the command itself.

The first cell of a row names the option, and the last one, which says when to change it, is written by hand.
"""

import re
from collections.abc import Iterator
from typing import Any

import typer

from specvino.cli import main
from structure.imports import PROJECT

PAGES = [PROJECT / "docs" / name for name in ("deployment.md", "many-machines.md", "performance-settings.md")]

_TABLE = re.compile(r"(?P<head><!-- drawn: (?P<command>[a-z]+)-options -->\n\|.*\n\|.*\n)(?P<rows>(?:\|.*\n)*)")
_CELLS = re.compile(r"(?<!\\)\|")
_DEFAULT = " By default, "


def drawn(text: str) -> str:
    """The text of a page with its tables of options made anew. Raises KeyError for an option that doesn't exist."""
    return _TABLE.sub(lambda match: match["head"] + "".join(_rows(match["command"], match["rows"])), text)


def named(text: str, command: str) -> list[str]:
    """The options of a command that the tables of a page have, in their order."""
    tables = [match for match in _TABLE.finditer(text) if match["command"] == command]
    return [_name(row) for match in tables for row in match["rows"].splitlines()]


def options(command: str) -> dict[str, Any]:
    """The parameters of a command by their names as users type them."""
    parameters: list[Any] = typer.main.get_group(main).commands[command].params
    return {
        parameter.name.upper() if parameter.param_type_name == "argument" else parameter.opts[-1]: parameter
        for parameter in parameters
    }


def _rows(command: str, rows: str) -> Iterator[str]:
    parameters = options(command)
    for row in rows.splitlines():
        parameter = parameters[_name(row)]
        text, _, default = parameter.help.partition(_DEFAULT)
        if not default:
            default = _shown(parameter.default)
        cells = [f"`{_name(row)}`", _cell(default.removesuffix(".")), _cell(text), _CELLS.split(row)[4].strip()]
        yield f"| {' | '.join(cells)} |\n"


def _name(row: str) -> str:
    return _CELLS.split(row)[1].strip().strip("`")


def _shown(default: Any) -> str:
    if default is None or default is False:
        return "none" if default is None else "off"
    return f"{default:,}" if isinstance(default, int) and default >= 10_000 else str(getattr(default, "value", default))


def _cell(text: str) -> str:
    """A text as Markdown: options as code, and what Markdown would interpret escaped."""
    parts = text.split("`")
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"(?<!\w)--[a-z][a-z-]*", r"`\g<0>`", re.sub(r"([*|<])", r"\\\1", parts[index]))
    return "`".join(parts)
