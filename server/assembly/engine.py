"""From the options of a server to the engine of a model."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specvino.engine.chat_template.template import Template, TemplateRefusal
from specvino.engine.models.pull import Report, say_nothing
from specvino.server.assembly.options import OptionError, ServeOptions

if TYPE_CHECKING:
    from specvino.engine.openvino.messages.options import PipelineOptions
    from specvino.engine.protocol import Drafting, Engine

# The tokens of prompts for which a step has room beside one for each choice that is made: none may wait for ever.
_PROMPT_TOKENS = 64


def make_engine(options: ServeOptions, model: str | None, report: Report = say_nothing, sharing: int = 1) -> "Engine":
    """Returns the engine for a model, which isn't started. So many models are `sharing` the memory.

    Raises OptionError and ModelLoadError; what is wrong with the options is told before a model is pulled.
    """
    pipeline = _pipeline(options)
    template = _chat_template(options.chat_template)
    if options.engine == "scripted":
        return _scripted(options)
    # Only here: it imports OpenVINO, which the scripted engine does without.
    from specvino.engine.models import resolve
    from specvino.engine.openvino.client.memory import default_cache_size, device_memory
    from specvino.engine.openvino.engine import OpenVINOEngine

    try:
        memory = device_memory(pipeline)
    except ValueError as error:
        raise OptionError("--device or --plugin-config", str(error)) from None
    source = resolve(model, report, options.revision)
    draft = resolve(options.draft_model, report) if options.draft_model else None
    return OpenVINOEngine(
        replace(source, defaults=_bounded(options, source.defaults)),
        max_sequences=options.max_num_seqs,
        max_queue=options.max_queue,
        cache_size=options.cache_size or default_cache_size(device_memory=memory, sharing=sharing),
        options=pipeline,
        draft_model=draft,
        prompt_lookup=options.prompt_lookup,
        tool_parser=options.tool_parser,
        reasoning_parser=options.reasoning_parser,
        chat_template=template,
    )


def _pipeline(options: ServeOptions) -> "PipelineOptions":
    from specvino.engine.openvino.messages.options import PipelineOptions, plugin_config

    try:
        config = plugin_config(options.plugin_config or "{}")
    except ValueError as error:
        raise OptionError("--plugin-config", str(error)) from None
    most = max(options.max_num_batched_tokens, options.max_num_seqs + _PROMPT_TOKENS)
    return PipelineOptions(most, config, options.device)


def _chat_template(file: Path | None) -> str | None:
    """Returns the template in a file."""
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8")
        Template(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise OptionError("--chat-template", f"{file}: can't be read: {reason}") from None
    except TemplateRefusal as error:
        raise OptionError("--chat-template", f"{file}: is no chat template: {error}") from None
    return text


def _bounded(options: ServeOptions, defaults: Mapping[str, float | int]) -> Mapping[str, float | int]:
    """Returns what a model says of its sampling, with the most tokens of a choice."""
    most = options.max_tokens_limit
    return defaults if most is None else {**defaults, "max_tokens": min(most, defaults.get("max_tokens", most))}


def _scripted(options: ServeOptions) -> "Engine":
    from specvino.engine.output_parsers.selection import TAUGHT, select_parsers
    from specvino.engine.scripted import ScriptedEngine

    drafting: Drafting | None = (
        "prompt_lookup" if options.prompt_lookup else "draft_model" if options.draft_model else None
    )
    parsers = select_parsers(TAUGHT, options.tool_parser, options.reasoning_parser)
    return ScriptedEngine(defaults=_bounded(options, {}), drafting=drafting, parsers=parsers)
