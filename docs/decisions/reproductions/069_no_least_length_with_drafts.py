"""Does a pipeline with prompt lookup end before `min_new_tokens`, or one with a draft model elsewhere than without?"""

from typing import Any

from openvino_genai import ContinuousBatchingPipeline, SchedulerConfig, Tokenizer, draft_model
from pipelines import PRECISE, TINY_TEXT, config, encode, finish, tokens
from verdict import report

LEAST = 22


def made(properties: dict[str, Any], **settings: Any) -> int:
    """Returns how many tokens the answer has."""
    pipe = ContinuousBatchingPipeline(TINY_TEXT, SchedulerConfig(), "CPU", PRECISE | properties)
    asked = config(max_new_tokens=60, min_new_tokens=LEAST, **settings)
    asked.set_eos_token_id(Tokenizer(TINY_TEXT).get_eos_token_id())
    [outputs] = finish(pipe, pipe.add_request(0, encode("hello"), asked))
    return len(tokens(outputs))


plain = made({})
lookup = made({"prompt_lookup": True}, num_assistant_tokens=4, max_ngram_size=3)
drafts = made({"draft_model": draft_model(TINY_TEXT, "CPU", **PRECISE)}, num_assistant_tokens=4)
report(
    lookup < LEAST or drafts != plain,
    f"{LEAST} tokens at least: {plain} without drafts, {lookup} and {drafts} with them",
)
