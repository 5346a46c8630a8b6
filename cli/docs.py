"""`specvino docs`: the documentation portal."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from specvino.cli.extras import needs

app = typer.Typer(help="Build the documentation portal.", no_args_is_help=True)


# A group of one command; without a callback Typer would leave its name out.
@app.callback()
def _docs() -> None: ...


@app.command()
def build(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write the site to.")] = Path("site"),
) -> None:
    """Build a static site that needs no network.

    It has the handwritten pages and those made from the OpenAPI document.
    """
    with needs("docs"):
        from specvino.cli.system_options.page import start_lines
        from specvino.portal.build import BuildError
        from specvino.portal.build import build as write
    from specvino.cli.conform_matrix import side_by_side
    from specvino.cli.main import app as whole

    try:
        write(output, whole, side_by_side, start_lines())
    except BuildError as error:
        sys.exit(f"specvino: {error}")
    typer.echo(f"the site is in {output}: open {output / 'index.html'}")
