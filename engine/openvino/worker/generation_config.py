"""GenAI's GenerationConfig for a request. Values that the pipeline rejects have been rejected before. GenAI 2026.4.1
accepts some others and then fails in every step: these are clamped to the bounds of 32-bit numbers.
"""

from openvino_genai import GenerationConfig

from specvino.engine.openvino.messages.worker import Generate
from specvino.engine.openvino.native.dummy_pipeline import structured_output_config
from specvino.engine.protocol import Drafting
from specvino.engine.request import Sampling

_SMALLEST = 1e-6  # temperature and top_p with which the pipeline samples correctly

_BELOW_ONE = 0.999999  # GenAI 2026.4.1 has 32-bit numbers: closer to 1 it would be 1 (decision 023)

_ALL_TOKENS = 2**64 - 1

# No token has this id.
_NO_TOKEN = 2**40

_NGRAM_SIZE = 3  # OpenVINO Model Server's default


def configure(request: Generate, own: GenerationConfig, drafting: Drafting | None, drafts: int) -> GenerationConfig:
    """Returns the pipeline's settings for a request. `own` are those of the model's folder, and `drafts` is how many
    tokens may be drafted per step.
    """
    # Only its end-of-turn tokens are used: num_beams or echo would change the kind of answer, and its sampling settings
    # are part of the request.
    config = GenerationConfig()
    config.eos_token_id = own.eos_token_id
    config.stop_token_ids = own.stop_token_ids
    config.max_new_tokens = request.max_new_tokens
    config.min_new_tokens = min(request.sampling.min_tokens, request.max_new_tokens)
    config.ignore_eos = request.sampling.ignore_eos
    config.echo = request.echo
    config.logprobs = int(request.logprobs)
    if request.beams > 1:
        _search(config, request)
    else:
        _draw(config, request.sampling, request.seed)
    if request.lowered is not None:
        config.structured_output_config = structured_output_config(request.lowered)
    if drafting is not None:
        _draft(config, request.sampling, drafting, drafts)
    return config


def _draw(config: GenerationConfig, sampling: Sampling, seed: int) -> None:
    # GenAI 2026.4.1: the softmax overflows for smaller values, which mean greedy decoding (decision 022).
    config.do_sample = min(sampling.temperature, sampling.top_p) >= _SMALLEST
    if config.do_sample:
        config.temperature = sampling.temperature
        config.top_p = sampling.top_p
        config.top_k = sampling.top_k if sampling.top_k > 0 else _ALL_TOKENS
        config.min_p = min(sampling.min_p, _BELOW_ONE)
        config.rng_seed = seed
    config.frequency_penalty = sampling.frequency_penalty
    config.presence_penalty = sampling.presence_penalty
    config.repetition_penalty = sampling.repetition_penalty


def _search(config: GenerationConfig, request: Generate) -> None:
    """Sets up a beam search.

    The server handles stop strings: in GenAI 2026.4.1 they make the step raise (decision 024).
    """
    config.num_beams = request.beams
    config.num_return_sequences = request.n
    config.length_penalty = request.sampling.length_penalty
    if request.sampling.ignore_eos:  # GenAI 2026.4.1 ignores it in searches (decision 025)
        config.eos_token_id = _NO_TOKEN
        config.stop_token_ids = {_NO_TOKEN}


def _draft(config: GenerationConfig, sampling: Sampling, drafting: Drafting, drafts: int) -> None:
    """Sets up speculative decoding.

    GenAI 2026.4.1: without these values, or with a threshold of 0, every step fails (decision 026).
    """
    if drafting == "draft_model" and sampling.assistant_confidence_threshold is not None:
        config.assistant_confidence_threshold = max(sampling.assistant_confidence_threshold, _SMALLEST)
        return
    config.num_assistant_tokens = drafts
    if drafting == "prompt_lookup":
        config.max_ngram_size = sampling.max_ngram_size or _NGRAM_SIZE
