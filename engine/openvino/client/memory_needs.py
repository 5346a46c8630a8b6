"""How much memory a model's processes need, from its files.

The figures are from OpenVINO 2026.4.1 on a CPU: memory that the kernel can't reclaim, of models with random weights
(Qwen3 of 0.6 and 1.7 billion weights with 4 and 8 bits, SmolLM2 of 135 million), in docs/decisions/081.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from specvino.engine.models.dimensions import Dimensions, dimensions
from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.worker import LONGEST_DRAFTED, STEP_CONTEXTS

GB = 2**30

# A process that runs a model repacks its weights, and keeps the embeddings a second time: 1.33 to 1.50 times the files
# for weights of 4 and 8 bits. Those of 16 bits are converted to 32, and kept twice: 4.1 to 4.4 times.
_RESIDENT = 1.5
_RESIDENT_FLOATS = 4.4

# A matrix of floats in a model's file. Scales of quantized weights have groups as a third dimension, or one column.
_FLOATS = re.compile(rb'element_type="b?f16" shape="(?!1,)\d+, (?!1")\d+"[^>]* size="(\d+)"')

# What a process that runs a model has besides: libraries, the tokenizer, small tensors.
_BESIDE = 250 * 2**20

# A process that loads a .gguf file that isn't converted, at its peak: 2,575 MB for a file of 830 MB.
_UNCONVERTED = 3.2

# The preprocess process, while it reads the tokenizer of a .gguf file that isn't converted: 2.1 GB for one of 974 MB.
_UNCONVERTED_TOKENIZER = 2.3

# The smallest KV cache, and the steps of its size below a gigabyte.
CACHE_STEP = GB // 8

_OPTIONS = PipelineOptions()

_F32 = 4

# The outputs of layers that exist at a time, as a multiple of the widest one: 85 KB for each token that a step computes
# with the widths of Qwen3 0.6B (3,072 values). Measured with four layers and steps of 256 and 2,048 tokens.
_OUTPUTS = 8

# The full-logits process has the logits of all tokens of a step, their logprobs, and what numpy needs in between.
_LOGITS = 3

# The plugin unpacks the keys and values of a layer to 32 bits for the prompts of a step (decision 086), and each thread
# has the scores of 32 tokens of each head. It keeps this memory, which all layers share: 13 KB for each token with the
# widths of Qwen3 0.6B and two threads, at contexts of 1,000 to 4,000.
_UNPACKED = 2
_SCORED_TOKENS = 32


@dataclass(frozen=True, slots=True)
class Needs:
    """The memory in bytes of a model's processes without their caches, and of its weights, which are a part of it. The
    worker runs the draft model, too; `undrafted` is the worker without it. A worker with a KV cache also takes `read`
    for each token of the longest context, which has `context` tokens, or as many as fit: a token takes `cached` bytes
    of the cache. `least_cache` is the smallest cache. `unconverted` is a .gguf file that is loaded as it is, and
    `preprocess` what the preprocess process takes while it reads the tokenizer of one.
    """

    weights: int
    worker: int
    undrafted: int
    full_logits: int
    read: int = 0
    context: int = 0
    cached: int = 0
    least_cache: int = CACHE_STEP
    unconverted: Path | None = None
    preprocess: int = 0

    def cache_of(self, size: float) -> int:
        """Returns the bytes of the cache that OpenVINO makes of a size in GB; 0 is a cache that grows."""
        return max(int(size * GB), self.least_cache) if size else 0

    def with_cache(self, cache: int) -> int:
        """Returns what the worker takes with a KV cache of this size in bytes, 0 if its size isn't limited."""
        return self.worker + cache + self.reading(cache)

    def undrafted_with(self, cache: int) -> int:
        """Returns what the worker without the draft model takes."""
        return self.undrafted + cache + self.reading(cache)

    def reading(self, cache: int) -> int:
        """Returns what a step takes for its prompts' contexts."""
        longest = min(self.context, cache // self.cached) if cache and self.cached else self.context
        return self.read * max(STEP_CONTEXTS, longest)


def needs(
    source: ModelSource,
    draft_model: ModelSource | None = None,
    *,
    converted: bool = False,
    options: PipelineOptions = _OPTIONS,
) -> Needs:
    """Returns what the processes of a model need, with the matrices of its adapter. With `converted` .gguf files are
    converted before they are loaded.
    """
    path, draft, adapter = source.path, draft_model.path if draft_model else None, source.adapter
    one, drafts = (_loaded(model, converted) for model in (path, draft))
    one += int(weights_of(adapter) * _RESIDENT_FLOATS)
    model = dimensions(path)
    step = options.max_num_batched_tokens
    undrafted = one + _BESIDE + _computed(model, step)
    drafting = dimensions(draft) if draft else Dimensions()
    # A step has the longest drafted prompts: one is added as long as those before it are shorter (decision 028).
    drafted = _computed(model, 2 * LONGEST_DRAFTED) + _computed(drafting, 2 * LONGEST_DRAFTED)
    unconverted = [] if converted else [model for model in (path, draft) if model and not model.is_dir()]
    return Needs(
        weights_of(path) + weights_of(draft) + weights_of(adapter),
        one + drafts + _BESIDE + drafted if draft else undrafted,
        undrafted,
        one + _BESIDE + _computed(model, step) + step * model.vocabulary * _LOGITS * _F32,
        _read(model) + _read(drafting),
        source.context_length,
        model.cached,
        _least_cache(options, whole=bool(unconverted), drafts=draft is not None),
        unconverted[0] if unconverted else None,
        0 if path.is_dir() or converted else int(weights_of(path) * _UNCONVERTED_TOKENIZER),
    )


def weights_of(path: Path | None) -> int:
    """Returns the size in bytes of the weights of an OpenVINO folder or a .gguf file; 0 for None."""
    if path is None:
        return 0
    return sum(file.stat().st_size for file in (path.glob("*.bin") if path.is_dir() else [path]))


def _loaded(path: Path | None, converted: bool) -> int:
    weights = weights_of(path)
    if path is not None and path.is_dir():
        floats = sum(int(size) for file in path.glob("*.xml") for size in _FLOATS.findall(file.read_bytes()))
        return int(floats * _RESIDENT_FLOATS + (weights - floats) * _RESIDENT)
    return int(weights * (_RESIDENT if converted else _UNCONVERTED))


def _computed(model: Dimensions, tokens: int) -> int:
    return tokens * model.widest * _OUTPUTS * _F32


def _read(model: Dimensions) -> int:
    return (_UNPACKED * model.keys + (os.cpu_count() or 1) * model.heads * _SCORED_TOKENS) * _F32


def _least_cache(options: PipelineOptions, *, whole: bool, drafts: bool) -> int:
    """Returns the smallest cache that OpenVINO GenAI 2026.4.1 makes: with a draft model one of a gigabyte for each
    model, and where the size of a token isn't known, one of a gigabyte (`state_sizes` in worker/pipeline.py).
    """
    if drafts:
        return 2 * GB
    plain = options.device == "CPU" and "KV_CACHE_PRECISION" not in options.plugin_config
    return CACHE_STEP if plain and not whole else GB
