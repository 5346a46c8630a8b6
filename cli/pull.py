"""`specvino pull`: a model of the catalogue, or of the Hugging Face hub, into the cache."""

import sys
from typing import Annotated

import typer

from specvino.cli.ending import needs
from specvino.cli.progress import Progress
from specvino.cli.serve_options import Revision


def pull(
    name: Annotated[
        str,
        typer.Argument(
            help="smollm2, or a Hugging Face model ID: ORG/NAME, or ORG/NAME:QUANTIZATION to choose one of several "
            "GGUF files."
        ),
    ] = "smollm2",
    revision: Revision = None,
) -> None:
    """Download a model to the cache, and convert it for OpenVINO if necessary."""
    with needs("serve"):
        from specvino.engine.errors import ModelLoadError
        from specvino.engine.models import pull as pulling
        from specvino.engine.models import resolve
        from specvino.engine.models.catalogue import CATALOGUE
        from specvino.engine.models.conversions import settled

    if name not in CATALOGUE and "/" not in name:
        sys.exit(
            f"specvino: unknown model {name}: use {', '.join(CATALOGUE)}, or a Hugging Face model ID such as ORG/NAME"
        )
    model = None if revision else CATALOGUE.get(name)
    try:
        if model and pulling.is_pulled(model):
            typer.echo(f"{name} is already in the cache: {pulling.pulled_folder(model)}")
            return
        with Progress() as report:
            if model:
                path = pulling.pull(model, report)
            else:
                source, _ = settled(resolve(name, report, revision), report)
                path = source.path
    except ModelLoadError as error:
        sys.exit(f"specvino: {error}")
    typer.echo(f"{name} is ready: {path}")
