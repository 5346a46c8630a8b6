"""Measures models of real sizes: `tox run -e sizes [-- NAME…] [--write]`."""

import json
from datetime import date
from typing import Annotated

import typer
from bench import machine
from rich.console import Console

from sizes.measured import measure
from sizes.page import PAGE, PLOT, RESULTS, page, plot
from sizes.shape import shapes


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Which models; without it all.")] = None,
    write: Annotated[bool, typer.Option(help="Write the results and the page of the portal.")] = False,
) -> None:
    """Starts each model, measures its memory, its speed beside the bare engine and llama.cpp's server, and its
    prompts."""
    known = shapes()
    if unknown := [name for name in names or () if name not in known]:
        raise typer.BadParameter(f"unknown model {unknown[0]!r}; available: {', '.join(known)}")
    console = Console()
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for name in names or known:
        described = machine.described() | {"date": f"{date.today():%-d %B %Y}"}
        results[name] = {"machine": described} | measure(known[name], console)
        if write:
            ordered = {name: results[name] for name in known if name in results}
            RESULTS.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
            PAGE.write_text(page(ordered), "utf-8")
            PLOT.write_text(plot(ordered), "utf-8")


if __name__ == "__main__":
    typer.run(main)
