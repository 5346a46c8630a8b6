"""Measures models of real sizes: `tox run -e sizes [-- NAME…] [--only PART] [--write]`."""

import json
from datetime import date
from typing import Annotated

import typer
from bench import machine
from rich.console import Console

from sizes.drafting import drafting
from sizes.measured import serving_requests, start
from sizes.models import models
from sizes.page import PAGE, PLOT, RESULTS, page, plot

_PARTS = {"start": start, "requests": serving_requests, "drafting": drafting}


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Which models; without it all.")] = None,
    only: Annotated[list[str] | None, typer.Option(help=f"A part, of {', '.join(_PARTS)}; without it all.")] = None,
    write: Annotated[bool, typer.Option(help="Write the results and the page of the portal.")] = False,
) -> None:
    """Starts each model, measures its memory, its speed beside the bare engine and llama.cpp's server, its prompts, and
    what drafts gain. What isn't measured again keeps its results."""
    known = models()
    for given, available in ((names, known), (only, _PARTS)):
        if unknown := [name for name in given or () if name not in available]:
            raise typer.BadParameter(f"unknown name {unknown[0]!r}; available: {', '.join(available)}")
    console = Console()
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for name in names or known:
        for part in only or _PARTS:
            if part == "drafting" and known[name].draft is None:
                continue
            console.print(f"{name}: {part}")
            described = machine.described() | {"date": f"{date.today():%-d %B %Y}"}
            results.setdefault(name, {})[part] = {"machine": described} | _PARTS[part](known[name], console)
            if write:
                ordered = {name: results[name] for name in known if name in results}
                RESULTS.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
                PAGE.write_text(page(ordered), "utf-8")
                PLOT.write_text(plot(ordered), "utf-8")


if __name__ == "__main__":
    typer.run(main)
