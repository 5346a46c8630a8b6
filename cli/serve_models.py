"""Which models `specvino serve` serves, and under which names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from specvino.cli.serve_engine import EngineOptions, make_engine
from specvino.cli.serve_options.models import EngineKind

if TYPE_CHECKING:
    from specvino.engine.protocol import Engine

Engines = dict[tuple[str, ...], "Engine"]
"""The engines by the names of their models, of which each has one or more."""


def own_names(model: str | None, given: Sequence[str] | None, engine: EngineKind) -> tuple[str, ...]:
    """Returns the names of the only model: the given ones, or its own. Raises BadParameter."""
    if "" in (given or ()):
        raise typer.BadParameter("a served model name can't be empty", param_hint="--served-model-name")
    if given:
        return tuple(given)
    if engine is EngineKind.SCRIPTED:
        return (model or "scripted",)
    if model is None:
        return ("smollm2",)
    return (Path(model).resolve().name.removesuffix(".gguf") if Path(model).exists() else model,)


def by_name(engines: Engines) -> dict[str, "Engine"]:
    """Returns the engine for each name."""
    return {name: engine for names, engine in engines.items() for name in names}


def make_engines(named: Sequence[str], of_one: Mapping[str, object], options: EngineOptions) -> Engines:
    """Returns an engine for each NAME=MODEL. `of_one` is what can be said of one model alone.

    Raises BadParameter and ModelLoadError.
    """
    for option, value in of_one.items():
        if value:
            raise typer.BadParameter(f"it can't be combined with {option}, which is of one model", param_hint="--model")
    models: dict[str, str] = {}
    for said in named:
        name, _, model = said.partition("=")
        if not name or not model:
            raise typer.BadParameter(f"{said!r} is no NAME=MODEL", param_hint="--model")
        if name in models:
            raise typer.BadParameter(f"two models have the name {name!r}", param_hint="--model")
        models[name] = model
    return {(name,): make_engine(model, None, options, len(models)) for name, model in models.items()}
