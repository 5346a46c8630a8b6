"""Loading of a model as a continuous batching pipeline, and the capacity of its KV cache."""

import re
from math import ceil, prod
from pathlib import Path
from typing import Any, NamedTuple

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

# The shape of a state in a model's file. That of keys or values is: sequences, heads, tokens, elements.
_STATE = re.compile(r'variable_shape="([^"]*)"')

# Elements of linear attention's states are f32 in the cache of GenAI 2026.4.1.
_F32 = 4

# Checkpoints of linear attention that a sequence has beside those of its tokens: at its beginning and at its end.
_MORE_CHECKPOINTS = 2

_UNKNOWN = "?"

# A scale and a zero point, in bytes.
_SCALE = 8


def load(settings: LoadModel) -> ContinuousBatchingPipeline:
    """Loads the model, and the draft model if there is one."""
    device = chosen(settings.options.device, settings.options.plugin_config)
    scheduler = SchedulerConfig()
    sizes = state_sizes(settings)
    if 0 < settings.cache_size < 1 and sizes and not sizes.fixed:
        scheduler.num_kv_blocks = max(1, int(settings.cache_size * 2**30) // (sizes.token * device.block))
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


class StateSizes(NamedTuple):
    """How many bytes a token's keys and values take in the cache, and the states of a sequence that don't grow: those
    of linear attention and convolutions, in hybrid models.
    """

    token: int
    fixed: int


def state_sizes(settings: LoadModel) -> StateSizes | None:
    """Returns the sizes in a cache of 8 bits: one byte for each element of keys and values, and eight for a scale and a
    zero point of each head. None if they aren't known: with another cache, beside a draft model, for a .gguf file, and
    for states of other shapes.

    OpenVINO GenAI 2026.4.1 takes the size of the cache in whole gigabytes, or as a number of blocks. For a gigabyte it
    has as many blocks as this size gives: 2,589 for SmolLM2 135M, 550 for Qwen3 0.6B.
    """
    properties = chosen(settings.options.device, settings.options.plugin_config).properties
    if settings.draft_path is not None or properties.get("KV_CACHE_PRECISION") != "u8":
        return None
    files = Path(settings.path).glob("*_model.xml")  # not those of the tokenizer
    shapes = [shape.split(",") for file in files for shape in _STATE.findall(file.read_text("utf-8"))]
    growing = [shape for shape in shapes if len(shape) == 4 and shape[2] == _UNKNOWN]
    used = [(shape[1], shape[3]) if shape in growing else shape[1:] for shape in shapes]
    if not all(size.isdecimal() for sizes in used for size in sizes):
        return None
    token = sum(int(heads) * (int(elements) + _SCALE) for _, heads, _, elements in growing)
    fixed = sum(_F32 * prod(map(int, shape[1:])) for shape in shapes if shape not in growing)
    return StateSizes(token, fixed) if token else None


def capacity(
    pipeline: ContinuousBatchingPipeline, drafting: Drafting | None, block: int, sizes: StateSizes | None = None
) -> int:
    """Returns how many tokens fit into the cache of an idle pipeline, which has a fixed size and blocks of `block`
    tokens.

    GenAI 2026.4.1 only reports the fraction of the cache in use. So a token is generated, which also makes the first
    request faster. Of a hybrid model that is the fraction of its checkpoints of linear attention, one for eight blocks
    or more, so its tokens follow from the size of the cache, if `sizes` are known.
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
    metrics = pipeline.get_metrics()
    share: float = metrics.cache_usage / 100  # of one block
    handle.cancel()
    for _ in range(2):  # its memory is free two steps later (decision 034)
        pipeline.step()
    checkpoints: int = metrics.la_peak_pool_blocks
    if sizes is None or not checkpoints:
        return round(1 / share) * block
    tokens: int = (metrics.cache_size_in_bytes - checkpoints * sizes.fixed) // sizes.token
    return tokens * max(1, checkpoints - _MORE_CHECKPOINTS) // checkpoints
