"""Which models a server has, and under which names."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from specvino.engine.models.pull import Report, say_nothing
from specvino.server.assembly.engine import make_engine
from specvino.server.assembly.options import OptionError, ServeOptions

if TYPE_CHECKING:
    from specvino.engine.protocol import Engine

Engines = dict[tuple[str, ...], "Engine"]
"""The engines by the names of their models, of which each has one or more."""


def make_engines(options: ServeOptions, report: Report = say_nothing) -> Engines:
    """Returns the engine of each model, none of them started. Raises OptionError and ModelLoadError."""
    if not options.named_models:
        return {own_names(options): make_engine(options, options.model, report)}
    _require_none_of_one_model(options)
    models = _named(options.named_models)
    return {(name,): make_engine(options, model, report, len(models)) for name, model in models.items()}


def names(options: ServeOptions) -> list[str]:
    """Returns the names of all models. Raises OptionError."""
    return list(_named(options.named_models) if options.named_models else own_names(options))


def _require_none_of_one_model(options: ServeOptions) -> None:
    of_one = {
        "MODEL": options.model,
        "--served-model-name": options.served_model_name,
        "--revision": options.revision,
        "--draft-model": options.draft_model,
        "--tool-parser": options.tool_parser,
        "--reasoning-parser": options.reasoning_parser,
        "--chat-template": options.chat_template,
    }
    for option, value in of_one.items():
        if value:
            raise OptionError("--model", f"it can't be combined with {option}, which is of one model")


def own_names(options: ServeOptions) -> tuple[str, ...]:
    """Returns the names of the only model: the given ones, or its own. Raises OptionError."""
    given, model = options.served_model_name or (), options.model
    if "" in given:
        raise OptionError("--served-model-name", "a served model name can't be empty")
    if given:
        return tuple(given)
    if options.engine == "scripted":
        return (model or "scripted",)
    if model is None:
        return ("smollm2",)
    return (Path(model).resolve().name.removesuffix(".gguf") if Path(model).exists() else model,)


def by_name(engines: Engines) -> dict[str, "Engine"]:
    """Returns the engine for each name."""
    return {name: engine for names, engine in engines.items() for name in names}


def _named(said: Sequence[str]) -> dict[str, str]:
    """Returns models by the names that NAME=MODEL gives them. Raises OptionError."""
    models: dict[str, str] = {}
    for each in said:
        name, _, model = each.partition("=")
        if not name or not model:
            raise OptionError("--model", f"{each!r} is no NAME=MODEL")
        if name in models:
            raise OptionError("--model", f"two models have the name {name!r}")
        models[name] = model
    return models
