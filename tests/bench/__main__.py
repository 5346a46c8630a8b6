"""Runs the measurements and prints them."""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from support.serving import Server, serving

from bench import batches, grammars_page, held, machine, overhead, plot, templates
from bench import full_logits as scored
from bench.real_schemas import real_schemas
from bench.validation import validation_times
from bench.workload import LOADS
from specvino.engine.models import resolve
from specvino.engine.request import Constraint, JsonSchema

app = typer.Typer(add_completion=False)
console = Console()

Model = Annotated[str | None, typer.Argument(help="What is served; without it the default model.")]


@app.callback(invoke_without_command=True)
def all_of_http(context: typer.Context) -> None:
    """Without a command: `serve`."""
    if context.invoked_subcommand is None:
        context.invoke(serve)


@app.command()
def serve(
    model: Model = None,
    streams: Annotated[list[int] | None, typer.Option(help="Only these numbers of streams.")] = None,
    rounds: Annotated[
        int,
        typer.Option(
            min=1, help="How often 8 streams and more run on each side, in turns; fewer run as much more often."
        ),
    ] = 7,
    other: Annotated[
        list[str] | None, typer.Option(help="URLs of other servers (…/v1), measured in the same turns.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all figures to this file.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Write a picture (SVG) to this file.")] = None,
    only: Annotated[bool, typer.Option("--only", help="Without grammars, validation and /health.")] = False,
) -> None:
    """What HTTP and grammars cost beside the bare engine and free texts, as ratios."""
    loads = [load for load in LOADS if not streams or load.streams in streams]
    described = machine.described()
    with _serving(model) as server:
        compared = []
        others = {f"other {number}": url for number, url in enumerate(other or (), start=1)}
        for name, url in others.items():
            console.print(f"{name} is {url}")

        def turns(streams: int) -> int:
            """A turn of few streams is short, and differs most from the next one."""
            return rounds * max(1, 8 // streams)

        for load in overhead.compare(server, resolve(model), loads, turns, others, console):
            compared.append(load)  # what is there is kept where a run is cut
            if json_file:
                figures = {
                    "machine": described,
                    "goals": overhead.GOALS,
                    "loads": [comparison.shown() for comparison in compared],
                }
                json_file.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
            if plot_file:
                plot_file.write_text(plot.svg(compared), encoding="utf-8")
        if only:
            return
        overhead.print_health(server, console)
        held.compare(server, console)
        scored.compare(server, console)
    for line in validation_times():
        console.print(line)


@app.command("held")
def only_held(model: Model = None) -> None:
    """16 streams of which half are held to a schema, beside 16 free ones."""
    with _serving(model) as server:
        held.compare(server, console)


@app.command("batches")
def only_batches(model: Model = None) -> None:
    """Greedy answers alone, and 4, 16 and 64 at once: how many differ."""
    with _serving(model) as server:
        batches.compare(server, console, (4, 16, 64))


@app.command("templates")
def only_templates() -> None:
    """Prompts of 100 messages and 20 tools, rendered and tokenized, beside GenAI's own rendering."""
    templates.compare(console)


@app.command()
def full_logits(model: Model = None) -> None:
    """1 and 16 streams with top_logprobs, beside as many without."""
    with _serving(model) as server:
        scored.compare(server, console)


@app.command()
def grammars(write: Annotated[bool, typer.Option(help="Write the page of the portal.")] = False) -> None:
    """What each construct and real schema costs on real vocabularies. Takes a quarter of an hour."""
    real: dict[str, Constraint] = {name: JsonSchema(schema) for name, schema in real_schemas()}
    costs = dict(grammars_page.measured(real, console.print))
    tables = grammars_page.tables(costs, real)
    for table in tables:
        console.print(table.rich())
    console.print(f"A free token: {grammars_page.free(costs)}")
    if write:
        grammars_page.PAGE.write_text(grammars_page.page(costs, tables), encoding="utf-8")


def _serving(model: str | None) -> AbstractContextManager[Server]:
    return serving(*([model] if model else []), "--served-model-name", "bench")


if __name__ == "__main__":
    app()
