"""Runs the soak on the default model and on a tiny one that sees images, and tells what it found."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from soak.plan import soak
from soak.report import problems, record, show

TINY = Path(__file__).parents[1] / "models" / "tiny_vision"

# What part of the time the default model has.
_SHARE = 0.6

console = Console()


def main(
    minutes: Annotated[float, typer.Option(help="How long it takes.")] = 20.0,
    model: Annotated[list[str] | None, typer.Option(help="Soak a server of this model only; may be repeated.")] = None,
    file: Annotated[Path | None, typer.Option("--json", help="Write what was found to this file.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the order of requests and attacks.")] = 1,
) -> None:
    """Honest and hostile clients, killed and frozen processes; exits with 1 where anything isn't as it should be."""
    shares = [(name, 1 / len(model)) for name in model] if model else [(None, _SHARE), (str(TINY), 1 - _SHARE)]
    runs = [asyncio.run(soak(name, minutes * share, seed, console.print)) for name, share in shares]
    for run in runs:
        show(run, console)
    if file is not None:
        file.write_text(json.dumps([record(run) for run in runs]), "utf-8")
    if any(list(problems(run)) for run in runs):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
