"""`specvino tune`: finds the fastest options of `serve` for a model on this machine."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

from specvino.cli.ending import needs, needs_model

if TYPE_CHECKING:
    from specvino.engine.openvino.messages.options import PipelineOptions
    from specvino.engine.openvino.tuning.search import Search

# The size has no effect on speed, as no prompt repeats.
_CACHE_GB = 1

_FIGURES = {
    "prompt": "long\nprompt",
    "one": "one\nanswer",
    "four": "4\nanswers",
    "sixteen": "16\nanswers",
    "longest_step": "longest\nstep",
}
_COLUMNS = ("options", *_FIGURES.values(), "all\nfive", "same\ntexts")

# Above it, figures differ by more than the gains that are looked for.
_MOST_OTHER_LOAD = 0.1


def tune(
    model: Annotated[
        str | None, typer.Argument(help="The model, given as to `specvino serve`. By default, smollm2.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write a shell script that serves the model with the options found. It passes its arguments on to "
            "`specvino serve`, as in: sh FILE --port 9000.",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            min=0,
            help="Approximate measuring time in seconds. Large models take longer, since each candidate is loaded.",
        ),
    ] = 120,
) -> None:
    """Find the fastest options of `specvino serve` for a model on this machine.

    Only the CPU is measured. Each candidate alternates with the default options, so the model has to fit into memory
    twice. Figures are speeds relative to the defaults: 1.20 is 20% faster, 0.50 takes twice as long. Other load on the
    machine adds noise; the first line compares the defaults with themselves and shows how much. The last line measures
    the best options once more: they are recommended if they are faster again, and slower with no number of answers.
    """
    with needs("serve"):
        from specvino.cli.progress import Progress
        from specvino.engine.models import resolve
        from specvino.engine.models.conversions import settled
        from specvino.engine.openvino.tuning.figures import loading
        from specvino.engine.openvino.tuning.search import OtherLoad, Search, candidates, this_machine

    machine = this_machine()
    console = Console()
    console.print(f"{machine.name}: {machine.cores} cores, {machine.threads} threads", highlight=False)
    with needs_model():
        with Progress() as report:
            source, _ = settled(resolve(model, report), report)
        search = Search(loading(source, _CACHE_GB), list(candidates(machine)), seconds)
        other_load = OtherLoad()
        _show(search, console)
    if other_load.share > _MOST_OTHER_LOAD:
        typer.echo(
            f"specvino: warning: other programs used {other_load.share:.0%} of the CPU, so the results are noisy; "
            "rerun on an idle machine",
            err=True,
        )
    slower = ", ".join(f"{_FIGURES[name].replace(chr(10), ' ')} {ratio:.2f}" for name, ratio in search.slower.items())
    costs = f" (slower: {slower})" if slower else ""
    if search.again and search.reason:
        typer.echo(f"specvino: not recommended: {_named(search.again.options)}, {search.reason}{costs}", err=True)
    elif slower:
        typer.echo(f"specvino: slower than with the defaults: {slower}", err=True)
    command = ["specvino", "serve", *([model] if model else []), *search.chosen.arguments()]
    line = shlex.join(command)
    typer.echo(line if search.chosen.arguments() else f"{line}  # the defaults: nothing is clearly faster")
    if output is not None:
        output.write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")


def _show(search: "Search", console: Console) -> None:
    from specvino.engine.openvino.tuning.search import Failure

    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    for index, column in enumerate(_COLUMNS):
        table.add_column(column, justify="right" if index else "left", overflow="fold", no_wrap=index > 0)
    with Live(table, console=console, auto_refresh=False, transient=True) as live:
        for row in search.rows():
            options = _named(row.options)
            if isinstance(row, Failure):
                # Only the first column is folded: in another one, a reason would take the width of all figures.
                table.add_row(f"{options}: {row.reason}", *["-"] * (len(_COLUMNS) - 1))
            else:
                ratios = [f"{ratio:.2f}" for ratio in (*row.ratio.all(), row.ratio.mean)]
                table.add_row(options, *ratios, f"{row.same_texts} of {row.texts}")
            live.refresh()
            if not console.is_terminal:  # the table is printed only at the end
                typer.echo(f"Measured: {options}", err=True)
    console.print(table)


def _named(options: "PipelineOptions") -> str:
    """Returns the options that differ from the defaults, short enough for a table on a terminal."""
    properties = (f"{name}={value}" for name, value in options.plugin_config.items())
    return " ".join([*replace(options, plugin_config={}).arguments(), *properties]) or "the defaults"
