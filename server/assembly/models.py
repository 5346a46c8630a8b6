"""The models of a server: their names and their engines."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specvino.engine.chat_template.template import Template, TemplateRefusal
from specvino.engine.progress import Report, say_nothing
from specvino.handlers.models import Adapter
from specvino.server.assembly.adapters import lora_modules
from specvino.server.assembly.options import OptionError, ServeOptions

if TYPE_CHECKING:
    from specvino.engine.models import ModelSource
    from specvino.engine.openvino.messages.options import PipelineOptions
    from specvino.engine.protocol import Drafting, Engine

Engines = dict[tuple[str, ...], "Engine"]
"""Engines by the names of their models; a model has one or more names."""


def make_engines(options: ServeOptions, report: Report = say_nothing) -> Engines:
    """Returns an engine for each model and each adapter, not started. Raises OptionError, before a model is pulled, and
    ModelLoadError.
    """
    models = _models(options)
    adapters = adapters_of(options)
    pipeline = _pipeline(options)
    template = _chat_template(options.chat_template)
    if options.engine == "scripted":
        return {names: _scripted(options) for names in (*models, *((adapter.name,) for adapter in adapters))}
    # Imported here because they import OpenVINO, which the scripted engine doesn't need.
    from specvino.engine.models import resolve, with_adapter
    from specvino.engine.models.adapter import adapter_file, read_adapter
    from specvino.engine.openvino.client.devices import device_memory
    from specvino.engine.openvino.client.memory_budget import MemoryBudget
    from specvino.engine.openvino.client.memory_needs import needs
    from specvino.engine.openvino.client.memory_plan import choose_cache
    from specvino.engine.openvino.engine import OpenVINOEngine

    try:
        of_device = device_memory(pipeline)
    except ValueError as error:
        raise OptionError("--device or --plugin-config", str(error)) from None
    for adapter in adapters:  # before models are pulled
        read_adapter(adapter_file(adapter.path))
    sources = {names: resolve(model, report, options.revision) for names, model in models.items()}
    bases = {name: source for names, source in sources.items() for name in names}
    sources |= {(adapter.name,): with_adapter(bases[adapter.base], adapter.path) for adapter in adapters}
    draft = resolve(options.draft_model, report) if options.draft_model else None
    budget = MemoryBudget() if of_device is None else MemoryBudget.of_device(of_device)
    sources = {
        names: replace(
            source, defaults=_bounded(options, source.defaults), context_length=_context_length(options, source)
        )
        for names, source in sources.items()
    }
    needed = [needs(source, draft, converted=True, options=pipeline) for source in sources.values()]
    cache_size = choose_cache(needed, budget.read(), options.cache_size)
    return {
        names: OpenVINOEngine(
            source,
            max_sequences=options.max_num_seqs,
            max_queue=options.max_queue,
            cache_size=cache_size,
            cache_may_shrink=options.cache_size is None,
            options=pipeline,
            draft_model=draft,
            prompt_lookup=options.prompt_lookup,
            tool_parser=options.tool_parser,
            reasoning_parser=options.reasoning_parser,
            chat_template=template,
            budget=budget,
            full_logits=options.full_logits,
            idle_unload=options.idle_unload,
        )
        for names, source in sources.items()
    }


def names(options: ServeOptions) -> list[str]:
    """Returns the names of all models and adapters. Raises OptionError."""
    of_models = [name for names in _models(options) for name in names]
    return [*of_models, *(adapter.name for adapter in adapters_of(options))]


def adapters_of(options: ServeOptions) -> list[Adapter]:
    """Returns the adapters. Raises OptionError."""
    return lora_modules(options.lora_modules or (), _models(options).keys())


def _models(options: ServeOptions) -> dict[tuple[str, ...], str | None]:
    """Returns the models as they were given, by their names. Raises OptionError."""
    if not options.named_models:
        return {own_names(options): options.model}
    _require_none_of_one_model(options)
    return {(name,): model for name, model in _named(options.named_models).items()}


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
            raise OptionError("--model", f"it can't be combined with {option}, which applies to a single model")


def own_names(options: ServeOptions) -> tuple[str, ...]:
    """Returns the names of a single model: the served names, or its own. Raises OptionError."""
    served, model = options.served_model_name or (), options.model
    if "" in served:
        raise OptionError("--served-model-name", "a served model name can't be empty")
    if served:
        return tuple(served)
    if options.engine == "scripted":
        return (model or "scripted",)
    if model is None:
        return ("smollm2",)
    return (Path(model).resolve().name.removesuffix(".gguf") if Path(model).exists() else model,)


def by_name(engines: Engines) -> dict[str, "Engine"]:
    """Returns the engine for each name."""
    return {name: engine for names, engine in engines.items() for name in names}


def _named(pairs: Sequence[str]) -> dict[str, str]:
    """Parses NAME=MODEL pairs; returns models by name. Raises OptionError."""
    models: dict[str, str] = {}
    for pair in pairs:
        name, _, model = pair.partition("=")
        if not name or not model:
            raise OptionError("--model", f"{pair!r} is not of the form NAME=MODEL")
        if name in models:
            raise OptionError("--model", f"the name {name!r} is used twice")
        models[name] = model
    return models


# Prompt tokens for which a step always has room, besides one token per running choice: no prompt may starve.
_PROMPT_TOKENS = 64


def _pipeline(options: ServeOptions) -> "PipelineOptions":
    from specvino.engine.openvino.messages.options import PipelineOptions, plugin_config

    try:
        config = plugin_config(options.plugin_config or "{}")
    except ValueError as error:
        raise OptionError("--plugin-config", str(error)) from None
    most = max(options.max_num_batched_tokens, options.max_num_seqs + _PROMPT_TOKENS)
    return PipelineOptions(most, config, options.device, options.prefix_cache == "shared")


def _chat_template(file: Path | None) -> str | None:
    """Returns the chat template in a file. Raises OptionError."""
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8")
        Template(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it isn't UTF-8"
        raise OptionError("--chat-template", f"{file}: can't be read: {reason}") from None
    except TemplateRefusal as error:
        raise OptionError("--chat-template", f"{file}: invalid chat template: {error}") from None
    return text


def _bounded(options: ServeOptions, defaults: Mapping[str, float | int]) -> Mapping[str, float | int]:
    """Returns a model's sampling defaults, with `max_tokens` limited by --max-tokens-limit."""
    most = options.max_tokens_limit
    return defaults if most is None else {**defaults, "max_tokens": min(most, defaults.get("max_tokens", most))}


def _context_length(options: ServeOptions, source: "ModelSource") -> int:
    """Returns the context length of --max-model-len, else the model's own. Raises OptionError if it is longer."""
    if options.max_model_len is None:
        return source.context_length
    if options.max_model_len > source.context_length:
        message = f"{options.max_model_len} is more than the context length of the model, {source.context_length}"
        raise OptionError("--max-model-len", message)
    return options.max_model_len


def _scripted(options: ServeOptions) -> "Engine":
    from specvino.engine.output_parsers.selection import TAUGHT, select_parsers
    from specvino.engine.scripted import CONTEXT_LENGTH, ScriptedEngine

    drafting: Drafting | None = (
        "prompt_lookup" if options.prompt_lookup else "draft_model" if options.draft_model else None
    )
    parsers = select_parsers(TAUGHT, options.tool_parser, options.reasoning_parser)
    return ScriptedEngine(
        defaults=_bounded(options, {}),
        drafting=drafting,
        parsers=parsers,
        context_length=options.max_model_len or CONTEXT_LENGTH,
    )
