"""`specvino pull`: a model of the catalogue, or of the Hugging Face hub, into the cache."""

import sys
from typing import Annotated

import typer

from specvino.cli.ending import needs
from specvino.cli.progress import PullProgress
from specvino.cli.serve_options import Revision


def pull(
    name: Annotated[
        str,
        typer.Argument(
            help="smollm2, or the id of a model on the Hugging Face hub: ORG/NAME, or ORG/NAME:QUANTIZATION for one of "
            "several GGUF files."
        ),
    ] = "smollm2",
    revision: Revision = None,
) -> None:
    """Download a model, and convert it for OpenVINO where that is needed."""
    with needs("serve"):
        from specvino.engine.errors import ModelLoadError
        from specvino.engine.models import pull as pulling
        from specvino.engine.models import resolve
        from specvino.engine.models.catalogue import CATALOGUE

    if name not in CATALOGUE and "/" not in name:
        sys.exit(
            f"specvino: {name}: no model of that name; there is: {', '.join(CATALOGUE)}, and those of the Hugging Face "
            "hub as ORG/NAME"
        )
    model = None if revision else CATALOGUE.get(name)
    if model and pulling.is_pulled(model):
        typer.echo(f"{name} is there already: {pulling.pulled_folder(model)}")
        return
    try:
        with PullProgress() as progress:
            path = pulling.pull(model, progress.report) if model else resolve(name, progress.report, revision).path
    except ModelLoadError as error:
        sys.exit(f"specvino: {error}")
    typer.echo(f"{name} is ready: {path}")
