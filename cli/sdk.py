"""`specvino sdk`: client packages, generated from the document."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from specvino.cli.dialects import DIALECTS, known_dialect
from specvino.cli.ending import needs

app = typer.Typer(help="Generate client packages from the OpenAPI document.", no_args_is_help=True)

Output = Annotated[Path, typer.Option("-o", "--output", help="The folder to write the package to.")]
Dialect = Annotated[
    str | None,
    typer.Option(
        help=f"The system to generate the client for: one of {DIALECTS}. By default, this project's server.",
        callback=known_dialect,
        metavar="SYSTEM",
    ),
]


@app.command()
def python(output: Output, dialect: Dialect = None) -> None:
    """Generate a Python package.

    It contains typed requests, pydantic responses, streams, and a sync and an async client.
    """
    with needs("sdk"):
        import datamodel_code_generator  # noqa: F401 - it runs as a separate program

        from specvino.sdk.python import generate
    _make(generate, output, dialect)


@app.command()
def typescript(output: Output, dialect: Dialect = None) -> None:
    """Generate an npm package.

    It contains types from openapi-typescript, and a client that needs no other package.
    """
    with needs("sdk"):
        from specvino.sdk.typescript import generate
    _make(generate, output, dialect)


def _make(generate: Callable[..., dict[str, str]], output: Path, dialect: str | None) -> None:
    from specvino.sdk.document import document_of
    from specvino.sdk.package import PackageError, describe, write

    document: dict[str, Any] = document_of(dialect)
    package = describe(dialect, document)
    try:
        write(generate(document, package), output)
    except PackageError as error:
        sys.exit(f"specvino: {error}")
    typer.echo(f"{package.name} {package.version} is in {output}")
