"""`specvino docs`: the documentation portal."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from specvino.cli.extras import needs

app = typer.Typer(help="The documentation portal.", no_args_is_help=True)


# A group of one command; without a callback Typer would leave its name out.
@app.callback()
def _docs() -> None: ...


@app.command()
def build(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the site.")] = Path("site"),
) -> None:
    """Makes a static site that needs no network: pages written by hand and pages made from the document."""
    with needs("docs"):
        from specvino.portal.build import BuildError
        from specvino.portal.build import build as write
    from specvino.cli.conform_matrix import side_by_side
    from specvino.cli.main import app as whole

    try:
        write(output, whole, side_by_side)
    except BuildError as error:
        sys.exit(f"specvino: {error}")
    typer.echo(f"the site is in {output}: open {output / 'index.html'}")
