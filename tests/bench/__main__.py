"""Runs the measurements and prints them."""

from contextlib import AbstractContextManager
from typing import Annotated

import typer
from rich.console import Console
from support.serving import Server, serving

from bench import grammars_page, held, overhead
from bench.real_schemas import real_schemas
from bench.validation import validation_times
from specvino.engine.request import Constraint, JsonSchema

app = typer.Typer(add_completion=False)
console = Console()

Model = Annotated[str | None, typer.Argument(help="What is served; without it the default model.")]


@app.callback(invoke_without_command=True)
def all_of_http(context: typer.Context) -> None:
    """Without a command: `serve`."""
    if context.invoked_subcommand is None:
        serve()


@app.command()
def serve(model: Model = None) -> None:
    """What HTTP and grammars cost beside the bare engine and free texts, as ratios."""
    with _serving(model) as server:
        overhead.compare(server, model, console)
        held.compare(server, console)
    for line in validation_times():
        console.print(line)


@app.command("held")
def only_held(model: Model = None) -> None:
    """16 streams of which half are held to a schema, beside 16 free ones."""
    with _serving(model) as server:
        held.compare(server, console)


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
