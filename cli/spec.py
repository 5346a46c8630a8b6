"""`specvino spec`: the document, whole or field by field."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from specvino.cli.dialects import DIALECTS, known_dialect
from specvino.cli.ending import end, needs
from specvino.cli.mistakes import Commands
from specvino.cli.spec_drift import drift
from specvino.document import loading
from specvino.document.loading import OPENAPI_32, dialect_file, dialects, lowered
from specvino.document.openapi_30 import to_30
from specvino.document.transforms import for_generators

app = typer.Typer(cls=Commands, help="Print, check or look up the annotated OpenAPI document.", no_args_is_help=False)
app.command(
    epilog="Exit codes: 0 only known differences, 1 new differences or outdated known ones, 2 the comparison failed."
)(drift)


class Version(StrEnum):
    V32 = "3.2"
    V31 = "3.1"
    V30 = "3.0"


class Format(StrEnum):
    JSON = "json"
    YAML = "yaml"


NEXT_STEPS = """
Next (CONTRIBUTING.md, "A dialect", from step 2):
  2. List its classes in upstream/tables/{name}.yaml: tox run -e upstream -- {name} --write.
  3. Replace the placeholders in openapi/dialects/{name}.yaml, and give the fields of one endpoint after the other a
     level: specvino spec lint.
  4. make codegen, which writes generated/dialects/{name}.json; PYTHONPATH=tests python -m structure.
  5. Map its options in cli/system_options/{name}.yaml.
  6. Record answers in tests/dialects/answers/{name}/.
  7. Test a server: specvino conform --dialect {name} URL; compare the sources: specvino spec drift --dialect {name}."""


@contextmanager
def _printing() -> Iterator[None]:
    """Ends the command with one line if standard output can't be written, such as on a full disk."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # the reader has gone, as with `| head`: not an error; Typer ends quietly
    except OSError as error:
        # Flushing the rest of the buffer would fail again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        end(f"standard output can't be written: {error.strerror}")


def _report_lost(lost: dict[str, list[str]]) -> None:
    """Prints to stderr which keywords OpenAPI 3.0 lacks."""
    counts = ", ".join(f"{keyword} ({len(paths)})" for keyword, paths in lost.items())
    typer.echo(f"specvino: keywords that OpenAPI 3.0 lacks, listed in info/x-lost: {counts}", err=True)


@app.callback(invoke_without_command=True)
def print_spec(
    context: typer.Context,
    openapi: Annotated[
        Version | None,
        typer.Option(
            help="The OpenAPI version. By default, 3.2, or 3.1 with --dialect. With this option, 3.1 is adapted "
            "to code generators. 3.0 is for tools that can't read 3.1; what it can't express is listed on stderr."
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help=f"Print the document of another system: one of {DIALECTS}.",
            callback=known_dialect,
            autocompletion=dialects,
            metavar="SYSTEM",
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="The output format.")] = Format.JSON,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file instead of stdout.")] = None,
) -> None:
    """Print the OpenAPI document of this server or of another system."""
    if context.invoked_subcommand:
        return
    if dialect is not None and openapi is Version.V32:
        raise typer.BadParameter("with --dialect, only 3.1 and 3.0 are available", param_hint="--openapi")
    if openapi in (Version.V31, Version.V30):
        document = for_generators(loading.load(dialect_file(dialect)) if dialect else lowered())
        if openapi is Version.V30:
            document = to_30(document)
            _report_lost(document["info"]["x-lost"])
    else:
        document = loading.load(dialect_file(dialect) if dialect else OPENAPI_32)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    if format is Format.YAML:
        from specvino.document import yaml_text

        text = yaml_text.dump(json.loads(text))
    if output is None:
        with _printing():
            typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        end(f"{output} can't be written: {error.strerror}")


@app.command()
def lint(
    root: Annotated[Path, typer.Option(help="The project's root folder, which contains openapi/.")] = Path(),
) -> None:
    """Check the sources of the document in openapi/."""
    with needs("codegen"):
        from specvino.codegen.lint import lint as problems_of
    from specvino.codegen.source import SpecError
    from specvino.codegen.spec import read

    try:
        problems = problems_of(read(root / "openapi"))
    except SpecError as error:
        end(str(error))
    with _printing():
        for problem in problems:
            typer.echo(problem)
    if problems:
        sys.exit(f"specvino: {len(problems)} problem{'s' if len(problems) > 1 else ''} in {root / 'openapi'}")


@app.command("new-dialect")
def new_dialect(
    name: Annotated[
        str, typer.Argument(help="The system's name, in lowercase letters, digits and hyphens, such as llama-cpp.")
    ],
    title: Annotated[str | None, typer.Option(help="The display name, such as llama.cpp; NAME by default.")] = None,
    root: Annotated[Path, typer.Option(help="The project's folder, which contains openapi/.")] = Path(),
) -> None:
    """Create the dialect file of a new system, with all fields unknown."""
    from datetime import date

    from specvino.codegen.new_dialect import files
    from specvino.codegen.source import SpecError
    from specvino.codegen.spec import read

    try:
        texts = files(read(root / "openapi"), name, title or name, root, date.today())
    except SpecError as error:
        end(str(error))
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
        typer.echo(f"Wrote {path}")
    typer.echo(NEXT_STEPS.format(name=name))


def _field_names() -> list[str]:
    from specvino.codegen.fields import fields

    return [field.name for field in fields(loading.whole())]


@app.command()
def explain(
    field: Annotated[
        str,
        typer.Argument(help="The field, such as chat.temperature or chat.response.usage.", autocompletion=_field_names),
    ],
    dialect: Annotated[
        str | None,
        typer.Option(
            help=f"Describe it as the document of another system does: one of {DIALECTS}.",
            callback=known_dialect,
            autocompletion=dialects,
            metavar="SYSTEM",
        ),
    ] = None,
) -> None:
    """Describe a field and show which systems support it."""
    from specvino.cli.explain import System, UnknownField, explain_field

    system = System(dialect, loading.load(dialect_file(dialect))) if dialect else None
    try:
        with _printing():
            explain_field(field, loading.whole(), system=system)
    except UnknownField as error:
        end(str(error))
