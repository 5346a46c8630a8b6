"""`specvino pull`: a model of the catalogue into the cache."""

import sys
from typing import Annotated

import typer

from specvino.cli.extras import needs
from specvino.cli.progress import PullProgress


def pull(
    name: Annotated[str, typer.Argument(help="The name of the model; only smollm2 is known.")] = "smollm2",
) -> None:
    """Download a model and convert it for OpenVINO."""
    with needs("serve"):
        from specvino.engine.errors import ModelLoadError
        from specvino.engine.models import pull as pulling
        from specvino.engine.models.catalogue import CATALOGUE

    if name not in CATALOGUE:
        sys.exit(f"specvino: {name}: no model of that name; there is: {', '.join(CATALOGUE)}")
    model = CATALOGUE[name]
    if pulling.is_pulled(model):
        typer.echo(f"{name} is there already: {pulling.pulled_folder(model)}")
        return
    try:
        with PullProgress() as progress:
            folder = pulling.pull(model, progress.report)
    except ModelLoadError as error:
        sys.exit(f"specvino: {error}")
    typer.echo(f"{name} is ready: {folder}")
