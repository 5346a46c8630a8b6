"""`specvino serve`: a model behind the API."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specvino.cli.extras import needs

if TYPE_CHECKING:
    from specvino.engine.protocol import Engine


class EngineKind(StrEnum):
    OPENVINO = "openvino"
    SCRIPTED = "scripted"


class UnsupportedFields(StrEnum):
    REPORT = "report"
    REJECT = "reject"
    IGNORE = "ignore"


def serve(
    model: Annotated[
        str | None,
        typer.Argument(
            help="An OpenVINO folder, a .gguf file, a known name or the id of a model in the local Hugging Face cache; "
            "without it the default model."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8000,
    served_model_name: Annotated[
        list[str] | None, typer.Option(help="A name for the model in requests; may be given more than once.")
    ] = None,
    engine: Annotated[
        EngineKind, typer.Option(help="`scripted` answers without a model: an offline mock.")
    ] = EngineKind.OPENVINO,
    api_key_file: Annotated[
        Path | None, typer.Option(help="A file of keys, one a line; else the environment's SPECVINO_API_KEY.")
    ] = None,
    unsupported_fields: Annotated[
        UnsupportedFields,
        typer.Option(help="What becomes of fields without effect: a response header, an error, or nothing."),
    ] = UnsupportedFields.REPORT,
    max_body: Annotated[int, typer.Option(min=1, help="The largest request body, in bytes.")] = 8 * 1024 * 1024,
    response_store: Annotated[
        str | None,
        typer.Option(
            help="Where responses are kept, for 30 days: the URL of a database (SQLAlchemy, with an asynchronous "
            "driver), or none; without it a file of the user's.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serves a model."""
    with needs("serve"):
        from specvino.engine.errors import ModelLoadError
        from specvino.server.keys import KeyFileError, read_keys
        from specvino.server.run import ServeError, run
        from specvino.server.settings import Settings
        from specvino.server.storage import StorageError, sealer
        from specvino.server.storage import response_store as store_of

    try:
        settings = Settings(read_keys(api_key_file), max_body, unsupported_fields.value)
        names = tuple(served_model_name or ()) or (_own_name(model, engine),)
        if "" in names:
            raise ServeError("a served model name can't be empty")
        run(_engine(model, engine), names, settings, host, port, store_of(response_store), sealer())
    except (ModelLoadError, KeyFileError, ServeError, StorageError) as error:
        sys.exit(f"specvino: {error}")


def _own_name(model: str | None, engine: EngineKind) -> str:
    if engine is EngineKind.SCRIPTED:
        return model or "scripted"
    if model is None:
        return "smollm2"
    return Path(model).resolve().name.removesuffix(".gguf") if Path(model).exists() else model


def _engine(model: str | None, kind: EngineKind) -> "Engine":
    if kind is EngineKind.SCRIPTED:
        from specvino.engine.scripted import ScriptedEngine

        return ScriptedEngine()
    with needs("serve"):
        from specvino.cli.progress import PullProgress
        from specvino.engine.models import resolve
        from specvino.engine.openvino.engine import OpenVINOEngine

    with PullProgress() as progress:
        return OpenVINOEngine(resolve(model, progress.report))
