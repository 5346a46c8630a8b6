"""`specvino spec drift`: where the document of a system and the system's own words differ."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from specvino.cli.dialects import SYSTEMS, known_dialect
from specvino.cli.ending import end
from specvino.document import loading
from specvino.document.loading import OPENAPI_32, dialect_file


class Format(StrEnum):
    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"


def drift(
    dialect: Annotated[
        str,
        typer.Option(help=f"The system: one of {SYSTEMS}.", callback=known_dialect, metavar="SYSTEM"),
    ],
    package_version: Annotated[
        str | None,
        typer.Option(
            help="The version of its package, by default that which the dialect describes; pip downloads it.",
            metavar="VERSION",
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(help="A folder with its sources, or a file with an OpenAPI document of its own, not the package."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare only an endpoint (chat) or a part of it (chat.request); may be repeated.", metavar="PART"
        ),
    ] = None,
    allowed: Annotated[
        Path | None, typer.Option(help="The list of known differences, by default upstream/allowed/SYSTEM.yaml.")
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(help="A project's folder, whose generated/ is compared instead of what is installed."),
    ] = None,
    format: Annotated[Format, typer.Option(help="The output format.")] = Format.TABLE,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, instead of standard output.")
    ] = None,
) -> None:
    """Compare the document of a system with the classes of the system itself, by values that only one side takes."""
    from specvino.upstream import allow_list, report
    from specvino.upstream.described import Unreadable
    from specvino.upstream.drift import drift as compare
    from specvino.upstream.drift import system_of

    if source is not None and package_version is not None:
        raise typer.BadParameter("a folder has the version that it has", param_hint="--package-version")
    document, whole = _document(root, dialect_file(dialect)), _document(root, OPENAPI_32)
    try:
        said = system_of(dialect, document, package_version, source)
        entries = allow_list.read(f"{dialect}.openapi" if source and source.is_file() else dialect, allowed)
        found = compare(dialect, document, whole, said, entries, only or ())
    except Unreadable as error:
        end(str(error))
    if format is Format.TABLE and output is None:
        # Into a file or a pipe goes a table that is wide enough for the names of fields.
        report.show(found, Console(width=None if sys.stdout.isatty() else 180))
    else:
        text = report.as_json(found) if format is Format.JSON else report.as_markdown(found)
        _write(text, output)
    sys.exit(0 if found.is_clean else 1)


def _document(root: Path | None, name: str) -> dict[str, Any]:
    if root is None:
        return loading.load(name)
    path = root / "generated" / name
    try:
        loaded: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        end(f"{path} can't be read: {error}")
    return loaded


def _write(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        end(f"{output} can't be written: {error.strerror}")
