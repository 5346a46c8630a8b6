"""From the options of `specvino serve` to an engine."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from specvino.cli.extras import needs
from specvino.cli.serve_options.models import EngineKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specvino.engine.openvino.messages.options import PipelineOptions
    from specvino.engine.protocol import Drafting, Engine

# The tokens of prompts for which a step has room beside one for each choice that is made: none may wait for ever.
_PROMPT_TOKENS = 64


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Holds the options that say how a model is run, under their own names."""

    engine: EngineKind
    draft_model: str | None
    prompt_lookup: bool
    tool_parser: str | None
    reasoning_parser: str | None
    max_tokens_limit: int | None
    max_queue: int
    cache_size: int | None
    max_num_seqs: int
    max_num_batched_tokens: int
    device: str
    plugin_config: str | None

    def pipeline(self) -> "PipelineOptions":
        """Returns those of the pipeline. Raises BadParameter."""
        from specvino.engine.openvino.messages.options import PipelineOptions, plugin_config

        try:
            config = plugin_config(self.plugin_config or "{}")
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--plugin-config") from None
        return PipelineOptions(
            max(self.max_num_batched_tokens, self.max_num_seqs + _PROMPT_TOKENS), config, self.device
        )

    def bounded(self, defaults: "Mapping[str, float | int]") -> "Mapping[str, float | int]":
        """Returns what a model says of its sampling, with the most tokens of a choice."""
        most = self.max_tokens_limit
        return defaults if most is None else {**defaults, "max_tokens": min(most, defaults.get("max_tokens", most))}


def make_engine(model: str | None, revision: str | None, options: EngineOptions, sharing: int = 1) -> "Engine":
    """Returns the engine for MODEL, which isn't started; `revision` is one of the Hugging Face hub's.
    So many models are `sharing` the memory.

    Raises BadParameter and ModelLoadError; what is wrong with the options is told before a model is pulled.
    """
    pipeline = options.pipeline()
    if options.engine is EngineKind.SCRIPTED:
        return _scripted(options)
    with needs("serve"):
        from specvino.cli.progress import PullProgress
        from specvino.engine.models import resolve
        from specvino.engine.openvino.cache_size import default_cache_size
        from specvino.engine.openvino.device_memory import device_memory
        from specvino.engine.openvino.engine import OpenVINOEngine

    try:
        memory = device_memory(pipeline)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--device or --plugin-config") from None
    with PullProgress() as progress:
        source = resolve(model, progress.report, revision)
        draft = resolve(options.draft_model, progress.report) if options.draft_model else None
    return OpenVINOEngine(
        replace(source, defaults=options.bounded(source.defaults)),
        max_sequences=options.max_num_seqs,
        max_queue=options.max_queue,
        cache_size=options.cache_size or default_cache_size(device_memory=memory, sharing=sharing),
        options=pipeline,
        draft_model=draft,
        prompt_lookup=options.prompt_lookup,
        tool_parser=options.tool_parser,
        reasoning_parser=options.reasoning_parser,
    )


def _scripted(options: EngineOptions) -> "Engine":
    from specvino.engine.output_parsers.selection import SelectedParsers
    from specvino.engine.scripted import ScriptedEngine

    drafting: Drafting | None = (
        "prompt_lookup" if options.prompt_lookup else "draft_model" if options.draft_model else None
    )
    parsers = (options.tool_parser or "hermes3", options.reasoning_parser or "qwen3")
    tool, reasoning = (None if name == "none" else name for name in parsers)
    return ScriptedEngine(defaults=options.bounded({}), drafting=drafting, parsers=SelectedParsers(tool, reasoning))
