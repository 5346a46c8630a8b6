"""`specvino pull`: a model of the catalogue, or of the Hugging Face hub, into the cache."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specvino.cli.ending import end, needs, needs_model
from specvino.cli.progress import Progress
from specvino.cli.serve_options import Revision

if TYPE_CHECKING:
    from specvino.engine.progress import Report


class Weights(StrEnum):
    INT4 = "int4"
    INT8 = "int8"
    FP16 = "fp16"


def pull(
    name: Annotated[
        str,
        typer.Argument(
            help="smollm2, or a Hugging Face model ID: ORG/NAME, or ORG/NAME:QUANTIZATION to choose one of several "
            "GGUF files. With --convert, ORG/NAME or the folder of a checkpoint."
        ),
    ] = "smollm2",
    revision: Revision = None,
    convert: Annotated[
        bool,
        typer.Option(
            "--convert",
            help="Convert a checkpoint for PyTorch (config.json and *.safetensors) to OpenVINO's format. Requires "
            "optimum-intel.",
        ),
    ] = False,
    weights: Annotated[
        Weights | None, typer.Option(help="The type of a converted checkpoint's weights. By default, int8.")
    ] = None,
) -> None:
    """Download a model to the cache, and convert it for OpenVINO if necessary."""
    with needs("serve"):
        from specvino.engine.models import pull as pulling
        from specvino.engine.models.catalogue import CATALOGUE

    if weights and not convert:
        end("--weights requires --convert")
    if not convert and name not in CATALOGUE and "/" not in name and not Path(name).exists():
        end(f"unknown model {name}: use {', '.join(CATALOGUE)}, or a Hugging Face model ID such as ORG/NAME")
    model = None if revision or convert else CATALOGUE.get(name)
    with needs_model():
        if model and pulling.is_pulled(model):
            typer.echo(f"{name} is already in the cache: {pulling.pulled_folder(model)}")
            return
        with Progress() as report:
            if convert:
                path = _converted(name, revision, weights or Weights.INT8, report)
            elif model:
                path = pulling.pull(model, report)
            else:
                path = _settled(name, revision, report)
    typer.echo(f"{name} is ready: {path}")


def _settled(name: str, revision: str | None, report: "Report") -> Path:
    from specvino.engine.models import resolve
    from specvino.engine.models.conversions import settled

    source, _ = settled(resolve(name, report, revision), report)
    return source.path


def _converted(name: str, revision: str | None, weights: Weights, report: "Report") -> Path:
    from specvino.engine.models.conversions import exported
    from specvino.engine.models.lookup import checkpoint_folder

    folder = checkpoint_folder(name, report, revision)
    model = str(folder.absolute()) if Path(name).is_dir() else name
    return exported(folder, model, weights, report).path
