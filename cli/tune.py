"""`specvino tune`: the options of `serve` with which a model is fastest on this machine."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

from specvino.cli.extras import needs

if TYPE_CHECKING:
    from specvino.engine.openvino.messages.options import PipelineOptions
    from specvino.engine.openvino.tuning.search import Search

# As in serve: what lies in the cache has no effect on the speed, as no prompt comes twice.
_CACHE_GB = 1

_COLUMNS = ("options", "long\nprompt", "one\nanswer", "16\nanswers", "longest\nstep", "all\nfour", "same\ntexts")


def tune(
    model: Annotated[
        str | None, typer.Argument(help="The model, given as to `specvino serve`. By default, the default model.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="A file for a shell script that serves the model with the options found; what it is given goes on to "
            "`specvino serve`, as in: sh FILE --port 9000.",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(min=0, help="About how long to measure. Large models take longer, as each candidate is loaded."),
    ] = 120,
) -> None:
    """Measure which options of `specvino serve` are fastest for a model on this machine.

    It is the CPU that is measured. Each candidate takes turns with the default options; the memory has to hold the
    model twice. All figures are ratios: 1.20 is 20% faster, a longest step of 0.50 takes twice as long. Other work of
    the machine makes them less sure; how far they can be trusted is said by the first line, which compares the
    defaults with themselves.
    """
    with needs("serve"):
        from specvino.cli.progress import PullProgress
        from specvino.engine.errors import ModelLoadError
        from specvino.engine.models import resolve
        from specvino.engine.openvino.tuning.figures import loading
        from specvino.engine.openvino.tuning.search import Search, candidates, this_machine

    machine = this_machine()
    console = Console()
    console.print(f"{machine.name}: {machine.cores} cores, {machine.threads} threads", highlight=False)
    try:
        with PullProgress() as progress:
            source = resolve(model, progress.report)
        search = Search(loading(source, _CACHE_GB), list(candidates(machine)), seconds)
        _show(search, console)
    except ModelLoadError as error:
        sys.exit(f"specvino: {error}")
    command = ["specvino", "serve", *([model] if model else []), *search.chosen.arguments()]
    said = shlex.join(command)
    typer.echo(said if search.chosen.arguments() else f"{said}  # the defaults: nothing is clearly better")
    if output is not None:
        output.write_text(f'#!/bin/sh\nexec {said} "$@"\n', encoding="utf-8")


def _show(search: "Search", console: Console) -> None:
    from specvino.engine.openvino.tuning.search import Failure

    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    for index, column in enumerate(_COLUMNS):
        table.add_column(column, justify="right" if index else "left", overflow="fold", no_wrap=index > 0)
    with Live(table, console=console, auto_refresh=False, transient=True) as live:
        for row in search.rows():
            options = _named(row.options)
            if isinstance(row, Failure):
                table.add_row(options, row.reason)
            else:
                ratios = [f"{ratio:.2f}" for ratio in (*row.ratio.all(), row.ratio.mean)]
                table.add_row(options, *ratios, f"{row.same_texts} of {row.texts}")
            live.refresh()
            if not console.is_terminal:  # where the table is printed at the end only
                typer.echo(f"Measured: {options}", err=True)
    console.print(table)


def _named(options: "PipelineOptions") -> str:
    """Says which options differ from the defaults, so short that a line of a terminal holds them beside the figures."""
    properties = (f"{name}={value}" for name, value in options.plugin_config.items())
    return " ".join([*replace(options, plugin_config={}).arguments(), *properties]) or "the defaults"
