"""Loads a model as a pipeline that takes many sequences a step."""

from collections.abc import Mapping
from typing import Any

import openvino
from openvino_genai import ContinuousBatchingPipeline, SchedulerConfig, draft_model

from specvino.engine.openvino.messages.options import PluginValue
from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.native.silence import silence
from specvino.engine.openvino.native.tokenizer import corrected
from specvino.engine.openvino.worker.draft_budget import draft_tokens

# OpenVINO 2026.4.1: fastest for decoding, and the same answers on every CPU (decision 049).
_PROPERTIES = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "u8"}

# With a draft model there is no limit: where prompts don't fit into one step, it makes wrong texts. GenAI 2026.4.1
# (decision 028).
_NO_LIMIT = 2**20


def load(settings: LoadModel) -> ContinuousBatchingPipeline:
    """Loads the model; a plain one is without what makes it faster: prefix cache and speculative decoding."""
    plain = settings.plain
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
    own = {**_PROPERTIES, **_checked(settings.options.plugin_config)}
    properties: dict[str, Any] = dict(own)
    with silence():
        if settings.draft_path is not None and not plain:
            properties["draft_model"] = draft_model(settings.draft_path, "CPU", **own)
        elif settings.prompt_lookup and not plain:
            properties["prompt_lookup"] = True
        if tokenizer := corrected(settings.path):
            return ContinuousBatchingPipeline(settings.path, tokenizer, scheduler, "CPU", **properties)
        return ContinuousBatchingPipeline(settings.path, scheduler, "CPU", properties)


def _checked(properties: Mapping[str, PluginValue]) -> Mapping[str, PluginValue]:
    """Returns properties that the CPU plugin takes; GenAI has some of its own, and passes over unknown ones. Raises
    ValueError."""
    if not properties:
        return properties
    known = openvino.Core().get_property("CPU", "SUPPORTED_PROPERTIES")
    settable = sorted(name for name, kind in known.items() if kind == "RW")
    for name in properties:
        if name not in settable:
            raise ValueError(f"{name} is no property of OpenVINO's CPU plugin; there are: {', '.join(settable)}")
    return properties
