"""`specvino sdk`: client packages, generated from the document."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from specvino.cli.dialects import DIALECTS, known_dialect
from specvino.cli.ending import end, needs
from specvino.cli.mistakes import Commands
from specvino.conformance.reports import inert
from specvino.document.loading import dialects

app = typer.Typer(cls=Commands, help="Generate client packages from the OpenAPI document.", no_args_is_help=True)

# The largest number of operations that are listed as left out.
MOST_LISTED = 20

Output = Annotated[Path, typer.Option("-o", "--output", help="The folder to write the package to.")]
Dialect = Annotated[
    str | None,
    typer.Option(
        help=f"The system to generate the client for: one of {DIALECTS}. By default, this project's server.",
        callback=known_dialect,
        autocompletion=dialects,
        metavar="SYSTEM",
    ),
]

Document = Annotated[
    str | None,
    typer.Option(
        help="Another OpenAPI document to generate the client from: any of version 3.0, 3.1 or 3.2, in JSON or YAML.",
        metavar="FILE|URL",
    ),
]
Name = Annotated[str | None, typer.Option(help="The package's name. By default, it follows from the title.")]
Version = Annotated[str | None, typer.Option(help="The package's version. By default, the document's.")]


@app.command()
def python(
    output: Output, dialect: Dialect = None, document: Document = None, name: Name = None, version: Version = None
) -> None:
    """Generate a Python package.

    It contains typed requests, pydantic responses, streams, and a sync and an async client.
    """
    with needs("sdk"):
        import datamodel_code_generator  # noqa: F401 - it runs as a separate program

        from specvino.sdk.python import generate
    _make(generate, output, dialect, document, name, version)


@app.command()
def typescript(
    output: Output, dialect: Dialect = None, document: Document = None, name: Name = None, version: Version = None
) -> None:
    """Generate an npm package.

    It contains types from openapi-typescript, and a client that needs no other package.
    """
    with needs("sdk"):
        from specvino.sdk.typescript import generate
    _make(generate, output, dialect, document, name, version)


@app.command()
def go(
    output: Output, dialect: Dialect = None, document: Document = None, name: Name = None, version: Version = None
) -> None:
    """Generate a Go package.

    It contains structs from openapi-generator, and a client with streams, which needs another package for
    WebSockets alone.
    """
    with needs("sdk-go"):
        from specvino.sdk.go import generate
    _make(generate, output, dialect, document, name, version)


def _make(
    generate: Callable[..., dict[str, str]],
    output: Path,
    dialect: str | None,
    source: str | None,
    name: str | None,
    version: str | None,
) -> None:
    from specvino.sdk.document import document_of
    from specvino.sdk.foreign.adapting import adapted
    from specvino.sdk.foreign.reading import describe_document, read_document
    from specvino.sdk.package import PackageError, describe, named, write

    if source and dialect:
        end("--document and --dialect both name what the client is for: use one of them")
    left_out: list[str] = []
    try:
        if source:
            foreign = read_document(source)
            package = describe_document(foreign, source)
            document, left_out = adapted(foreign)
        else:
            document = document_of(dialect)
            package = describe(dialect, document)
        package = named(package, name, version)
        write(generate(document, package), output)
    except PackageError as error:
        end(str(error))
    except subprocess.CalledProcessError:
        end("datamodel-code-generator can't make classes of this document; its output is above")
    for operation in left_out[:MOST_LISTED]:
        typer.echo(f"specvino: left out: {inert.line(operation)}", err=True)
    if (more := len(left_out) - MOST_LISTED) > 0:
        typer.echo(f"specvino: left out: {more} more", err=True)
    typer.echo(f"{package.name} {package.version} is in {output}")
