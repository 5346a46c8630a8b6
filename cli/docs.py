"""`specvino docs`: the documentation portal."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specvino.cli.ending import end, needs
from specvino.cli.mistakes import Commands
from specvino.cli.system_options.table import Meaning, Table, effect, read
from specvino.document.loading import dialect_file, load, systems

if TYPE_CHECKING:
    from specvino.portal.build import Made
    from specvino.portal.pages.doubles import Option, StartLine

app = typer.Typer(cls=Commands, help="Build the documentation portal.", no_args_is_help=True)


# A group of one command; without a callback Typer would omit its name.
@app.callback()
def _docs() -> None: ...


def _address(value: str) -> str:
    """Returns an address without a slash at its end; refuses what isn't one."""
    if value and not re.fullmatch(r"https?://[^\s?#]+", value):
        raise typer.BadParameter(f"{value!r} isn't an address such as https://example.org/specvino")
    return value.rstrip("/")


@app.command()
def build(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write the site to.")] = Path("site"),
    url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            callback=_address,
            help="The address that the site will have, for canonical links, link previews and the sitemap.",
            show_default=False,
        ),
    ] = "",
    repository: Annotated[
        str,
        typer.Option(
            metavar="URL",
            callback=_address,
            help="The project's repository on GitHub, for links that report and correct rows of the matrix.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Build a static site that works offline.

    It contains the handwritten pages and those generated from the OpenAPI document.
    """
    with needs("docs"):
        from specvino.portal.build import Addresses, BuildError
        from specvino.portal.build import build as write

    try:
        write(output, parts(), Addresses(url and f"{url}/", repository))
    except BuildError as error:
        end(str(error))
    typer.echo(f"the site is in {output}: open {output / 'index.html'}")
    if not url:
        _warn("without --url the sitemap is empty, and pages have neither canonical links nor previews")
    if not repository:
        _warn("without --repository the matrix has no links to report or edit its rows")


def _warn(message: str) -> None:
    typer.echo(f"specvino: warning: {message}", err=True)


def parts() -> "Made":
    """Returns what the site shows of other parts of the project."""
    from specvino.cli.conform_matrix import side_by_side
    from specvino.cli.main import app as root
    from specvino.portal.build import Made
    from specvino.upstream.evidence import evidence

    def version(system: str) -> dict[str, Any]:
        described: dict[str, Any] = load(dialect_file(system))["x-dialect"]["version"]
        return described

    return Made(root, side_by_side, start_lines(), {system: evidence(system, version(system)) for system in systems()})


def start_lines() -> dict[str, "StartLine"]:
    """Returns, by system, the command line that starts its server and the matching one of ours."""
    return {system: _start_line(system, table) for system in systems() if (table := read(system))}


def _start_line(system: str, table: Table) -> "StartLine":
    from specvino.portal.pages.doubles import StartLine

    options = {file: [_option(meaning) for meaning in meanings] for file, meanings in table.sources.items()}
    ours = f"specvino serve --dialect {system} {table.arguments}".strip()
    return StartLine(table.line, ours, table.version, table.note, options)


def _option(meaning: Meaning) -> "Option":
    from specvino.portal.pages.doubles import Option

    return Option(", ".join(meaning.names), effect(meaning), meaning.because or "")
