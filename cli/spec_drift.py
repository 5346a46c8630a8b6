"""`specvino spec drift`: differences between a system's document and the system's own code."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from specvino.cli.dialects import DIALECTS, known_dialect
from specvino.cli.ending import end
from specvino.conformance.reports import inert
from specvino.document import loading
from specvino.document.loading import OPENAPI_32, dialect_file, dialects


class Format(StrEnum):
    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"


def drift(
    dialect: Annotated[
        str,
        typer.Option(
            help=f"The system to compare: one of {DIALECTS}.",
            callback=known_dialect,
            autocompletion=dialects,
            metavar="SYSTEM",
        ),
    ],
    package_version: Annotated[
        str | None,
        typer.Option(
            help="The version of its package, which pip downloads. By default, the version that the dialect describes.",
            metavar="VERSION",
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            help="A folder of its sources, or a file with its own OpenAPI document, to use instead of the package."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare only an endpoint (chat) or a part of it (chat.request). May be repeated.", metavar="PART"
        ),
    ] = None,
    allowed: Annotated[
        Path | None, typer.Option(help="The list of known differences. By default, upstream/allowed/SYSTEM.yaml.")
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(help="A project's root folder, whose generated/ is used instead of the installed documents."),
    ] = None,
    format: Annotated[Format, typer.Option(help="The output format.")] = Format.TABLE,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file instead of stdout.")] = None,
) -> None:
    """Compare a system's document with the system's own classes: find values that only one of them accepts, and fields
    whose lines have changed since the described version."""
    from specvino.upstream import allow_list, description, report
    from specvino.upstream.described import Unreadable
    from specvino.upstream.drift import drift as compare
    from specvino.upstream.drift import system_of

    if source is not None and package_version is not None:
        raise typer.BadParameter("--package-version and --source can't be combined", param_hint="--package-version")
    document, ours = _document(root, dialect_file(dialect)), _document(root, OPENAPI_32)
    try:
        system = system_of(dialect, document, package_version, source)
        before = None if source and source.is_file() else description.read_fields(dialect)
        entries = allow_list.read(f"{dialect}.openapi" if source and source.is_file() else dialect, allowed)
        # Names of a document may be anybody's.
        drift_report = inert.remade(compare(dialect, document, ours, system, entries, only or (), before), inert.line)
    except Unreadable as error:
        end(str(error))
    if format is Format.TABLE and output is None:
        # In a file or a pipe, the table is wide enough for field names.
        report.show(drift_report, Console(width=None if sys.stdout.isatty() else 180))
    else:
        text = report.as_json(drift_report) if format is Format.JSON else report.as_markdown(drift_report)
        _write(text, output)
    sys.exit(0 if drift_report.is_clean else 1)


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
