"""Command lines in the options of other systems, read."""

from typing import Any

import typer

from specvino.cli import main
from specvino.cli.system_options.command import SystemCommand
from specvino.cli.system_options.reading import Read, finish
from specvino.cli.system_options.reading import read as read_line
from specvino.cli.system_options.table import read as read_table

_SERVE: Any = typer.main.get_group(main).commands["serve"]
_OWN = dict(SystemCommand._own(_SERVE, typer.Context(_SERVE)))


def read(system: str, *arguments: str) -> Read:
    """What `specvino serve` makes of arguments beside `--dialect system`."""
    table = read_table(system)
    assert table is not None
    line = read_line(arguments, table, _OWN)
    finish(line, table, _OWN)
    return line
