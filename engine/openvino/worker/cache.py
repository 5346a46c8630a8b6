"""How much the pipeline's KV cache holds."""

from openvino_genai import ContinuousBatchingPipeline, GenerationConfig

from specvino.engine.protocol import Drafting


def capacity(pipeline: ContinuousBatchingPipeline, drafting: Drafting | None, block: int) -> int:
    """Returns how many tokens fit into the cache of an idle pipeline, if that has a fixed size and blocks of so many
    tokens.

    GenAI 2026.4.1 tells it only by the share that a sequence has of it: so a token is generated, which makes the
    first request quicker, too.
    """
    config = GenerationConfig()
    config.max_new_tokens = 2
    config.ignore_eos = True
    if drafting is not None:  # decision 026
        config.num_assistant_tokens = 1
    if drafting == "prompt_lookup":
        config.max_ngram_size = 1
    config.apply_chat_template = False
    handle = pipeline.add_request(0, "a", config)  # a vision-language model takes text alone
    pipeline.step()
    share: float = pipeline.get_metrics().cache_usage / 100  # of one block
    handle.cancel()
    for _ in range(2):  # its memory is free two steps later (decision 034)
        pipeline.step()
    return round(1 / share) * block
