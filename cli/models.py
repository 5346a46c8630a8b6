"""`specvino models`: the models on this machine: in the cache folder, and in that of the Hugging Face library."""

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from specvino.cli.ending import end, needs
from specvino.cli.mistakes import Commands, suggestion
from specvino.conformance.reports import inert

if TYPE_CHECKING:
    from specvino.engine.models.cache import Entry
    from specvino.engine.models.hub_cache import HubEntry

app = typer.Typer(
    cls=Commands, help="List the models in the cache folder, or remove them.", invoke_without_command=True
)


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"


@app.callback()
def listing(
    context: typer.Context,
    format: Annotated[Format, typer.Option(help="The output format.")] = Format.TABLE,
) -> None:
    """List the pulled models and the conversions of GGUF files in the cache folder, and the models of the Hugging Face
    hub, which are in the cache of its own library, the most recently used first.
    """
    if context.invoked_subcommand is not None:
        return
    ours, of_hub = _entries(), _of_hub()
    there: list[Entry | HubEntry] = [*ours, *of_hub]
    if format is Format.JSON:
        rows = [
            {
                "name": entry.name,
                "path": str(entry.path),
                "source": entry.source,
                "bytes": entry.bytes,
                "used_at": int(entry.used),
                "in_use": entry.in_use,
            }
            for entry in there
        ]
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    from specvino.engine.models.cache import cache_folder
    from specvino.engine.models.hub_cache import hub_cache_folder

    if not there:
        typer.echo(f"Nothing is in the cache ({cache_folder()}).")
        return
    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    table.add_column("name", overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("last used", no_wrap=True)
    table.add_column("source", overflow="fold")
    for entry in there:
        used = "in use" if entry.in_use else f"{datetime.fromtimestamp(entry.used, UTC):%Y-%m-%d %H:%M} UTC"
        table.add_row(_inert(entry.name), _size(entry.bytes), used, _inert(entry.source))
    Console().print(table)
    for entries, folder in ((ours, cache_folder()), (of_hub, hub_cache_folder())):
        if entries:
            typer.echo(f"{_size(sum(entry.bytes for entry in entries))} in {folder}")


@app.command()
def rm(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="The names that the list shows, with or without their versions.",
            autocompletion=lambda: [entry.name for entry in (*_entries(), *_of_hub())],
            metavar="[NAME]...",
        ),
    ] = None,
    all_of_them: Annotated[
        bool, typer.Option("--all", help="Remove all of the cache folder, in place of NAME.")
    ] = False,
) -> None:
    """Remove models from the cache folder, except those that a server uses, or models of the Hugging Face hub by name.

    They are pulled or converted again when they are needed. The exit code is 1 if one is in use, or can't be removed.
    Whether another program uses a model of the hub isn't known.
    """
    if bool(names) == all_of_them:
        end("give the names of models to remove, or --all")
    there: dict[str, Entry | HubEntry] = {entry.name: entry for entry in _entries()}
    chosen = [*there] if all_of_them else []
    there |= {entry.name: entry for entry in _of_hub()} if names else {}
    for name in names or ():
        # Also by the name that `pull` and `serve` take, without the version.
        meant = [one for one in there if name in (one, one.rpartition("-")[0])]
        if not meant:
            others = f"; it has {', '.join(there) or 'nothing'}"
            longer = next((one for one in there if one.startswith(name)), None)
            hint = f"; did you mean {longer}?" if longer else suggestion(name, there, others)
            end(f"{name} isn't in the cache{hint}")
        chosen += meant
    failed = False
    for name in dict.fromkeys(chosen):
        try:
            removed, reason = there[name].remove(), "it is in use"
        except OSError as error:
            removed, reason = False, str(error.strerror)
        if removed:
            typer.echo(f"Removed {inert.line(name)}: {_size(there[name].bytes)}")
        else:
            failed = True
            typer.echo(f"specvino: {inert.line(name)} can't be removed: {reason}", err=True)
    raise typer.Exit(int(failed))


def _entries() -> "list[Entry]":
    with needs("serve"):
        from specvino.engine.errors import ModelLoadError
        from specvino.engine.models.cache import entries

    try:
        return entries()
    except ModelLoadError as error:
        end(str(error))


def _of_hub() -> "list[HubEntry]":
    from specvino.engine.errors import ModelLoadError
    from specvino.engine.models.hub_cache import hub_entries

    try:
        return hub_entries()
    except ModelLoadError as error:
        end(str(error))


def _size(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size < 1e9 else f"{size / 1e9:,.1f} GB"


def _inert(text: str) -> Text:
    """Returns a text in which neither rich nor a terminal obeys anything."""
    return Text(inert.line(text))
