"""Loads a model as a pipeline that takes many sequences a step."""

from typing import Any

from openvino_genai import ContinuousBatchingPipeline, SchedulerConfig, draft_model

from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.native.devices import chosen
from specvino.engine.openvino.native.silence import silence
from specvino.engine.openvino.native.tokenizer import corrected
from specvino.engine.openvino.worker.draft_budget import draft_tokens

# With a draft model there is no limit: where prompts don't fit into one step, it makes wrong texts. GenAI 2026.4.1
# (decision 028).
_NO_LIMIT = 2**20


def load(settings: LoadModel) -> ContinuousBatchingPipeline:
    """Loads the model; a plain one is without what makes it faster: prefix cache and speculative decoding."""
    plain = settings.plain
    device = chosen(settings.options.device, settings.options.plugin_config)
    scheduler = SchedulerConfig()
    scheduler.cache_size = settings.cache_size
    scheduler.max_num_batched_tokens = settings.options.max_num_batched_tokens
    # Repeated greedy prompts give identical texts with and without it:
    # tests/engine/openvino/test_engine_prefix_cache.py.
    scheduler.enable_prefix_caching = settings.prefix_cache
    if settings.draft_path is not None and not plain:
        scheduler.max_num_batched_tokens = _NO_LIMIT
    elif settings.prompt_lookup and not plain:
        # Drafts that don't fit into a step make it raise (decision 028): they have room of their own in it.
        scheduler.max_num_batched_tokens += draft_tokens(settings.max_sequences)
    properties: dict[str, Any] = dict(device.properties)
    with silence():
        if settings.draft_path is not None and not plain:
            properties["draft_model"] = draft_model(settings.draft_path, device.name, **device.properties)
        elif settings.prompt_lookup and not plain:
            properties["prompt_lookup"] = True
        if tokenizer := corrected(settings.path):
            return ContinuousBatchingPipeline(settings.path, tokenizer, scheduler, device.name, **properties)
        return ContinuousBatchingPipeline(settings.path, scheduler, device.name, properties)
