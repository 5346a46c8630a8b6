"""Loading of a model as a continuous batching pipeline, and the capacity of its KV cache."""

import re
from math import ceil
from pathlib import Path
from typing import Any

from openvino_genai import ContinuousBatchingPipeline, GenerationConfig, SchedulerConfig, draft_model

from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.native.devices import chosen
from specvino.engine.openvino.native.error_output import silence
from specvino.engine.openvino.native.tokenizer import corrected
from specvino.engine.openvino.worker.draft_budget import draft_tokens
from specvino.engine.protocol import Drafting

# With a draft model there is no limit: if prompts don't fit into one step, texts are wrong in GenAI 2026.4.1
# (decision 028).
_NO_LIMIT = 2**20

# The shape of keys or values in a model's file: sequences, heads, tokens, elements.
_STATE = re.compile(r'variable_shape="([^"]*)"')

# A scale and a zero point, in bytes.
_SCALE = 8


def load(settings: LoadModel) -> ContinuousBatchingPipeline:
    """Loads the model, and the draft model if there is one."""
    device = chosen(settings.options.device, settings.options.plugin_config)
    scheduler = SchedulerConfig()
    of_bytes = device.properties.get("KV_CACHE_PRECISION") == "u8"
    if 0 < settings.cache_size < 1 and of_bytes and (token_bytes := _token_bytes(settings)):
        scheduler.num_kv_blocks = max(1, int(settings.cache_size * 2**30) // (token_bytes * device.block))
    else:
        scheduler.cache_size = ceil(settings.cache_size)
    scheduler.max_num_batched_tokens = settings.options.max_num_batched_tokens
    # Repeated greedy prompts have identical texts with and without it: see
    # tests/engine/openvino/test_engine_prefix_cache.py.
    scheduler.enable_prefix_caching = settings.prefix_cache
    if settings.draft_path is not None:
        scheduler.max_num_batched_tokens = _NO_LIMIT
    elif settings.prompt_lookup:
        # Drafts that don't fit into a step make it raise (decision 028), so room is reserved for them.
        scheduler.max_num_batched_tokens += draft_tokens(settings.max_sequences)
    properties: dict[str, Any] = dict(device.properties)
    with silence():
        if settings.draft_path is not None:
            properties["draft_model"] = draft_model(settings.draft_path, device.name, **device.properties)
        elif settings.prompt_lookup:
            properties["prompt_lookup"] = True
        if tokenizer := corrected(settings.path):
            return ContinuousBatchingPipeline(settings.path, tokenizer, scheduler, device.name, **properties)
        return ContinuousBatchingPipeline(settings.path, scheduler, device.name, properties)


def _token_bytes(settings: LoadModel) -> int | None:
    """Returns the size of a token's keys and values in a cache of 8 bits: one byte for each element, and eight for a
    scale and a zero point of each head. None if that isn't known: beside a draft model, for a .gguf file, and for
    models with other states.

    OpenVINO GenAI 2026.4.1 takes the size of the cache in whole gigabytes, or as a number of blocks. For a gigabyte it
    has as many blocks as this size gives: 2,589 for SmolLM2 135M, 550 for Qwen3 0.6B.
    """
    files = Path(settings.path).glob("*_model.xml")  # not those of the tokenizer
    shapes = [shape.split(",") for file in files for shape in _STATE.findall(file.read_text("utf-8"))]
    if settings.draft_path is not None or any(len(shape) != 4 for shape in shapes):
        return None
    return sum(int(heads) * (int(elements) + _SCALE) for _, heads, _, elements in shapes)


def capacity(pipeline: ContinuousBatchingPipeline, drafting: Drafting | None, block: int) -> int:
    """Returns how many tokens fit into the cache of an idle pipeline, which has a fixed size and blocks of `block`
    tokens.

    GenAI 2026.4.1 only reports the fraction of the cache in use. So a token is generated, which also makes the first
    request faster.
    """
    config = GenerationConfig()
    config.max_new_tokens = 2
    config.ignore_eos = True
    if drafting is not None:  # decision 026
        config.num_assistant_tokens = 1
    if drafting == "prompt_lookup":
        config.max_ngram_size = 1
    config.apply_chat_template = False
    handle = pipeline.add_request(0, "a", config)  # text, since a vision-language model takes no ids
    pipeline.step()
    share: float = pipeline.get_metrics().cache_usage / 100  # of one block
    handle.cancel()
    for _ in range(2):  # its memory is free two steps later (decision 034)
        pipeline.step()
    return round(1 / share) * block
