"""What needs the scores of the whole vocabulary: the likeliest tokens at each place, and logit_bias."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Sampling
from specvino.handlers.structured_outputs import StructuredOutput
from specvino.handlers.tools import ToolCalling


@dataclass(frozen=True, slots=True)
class TopLogprobs:
    """How many of the likeliest tokens to show at each place, and the field that says so."""

    count: int = 0
    param: str = "top_logprobs"


def without_full_logits(
    top: TopLogprobs,
    sampling: Sampling,
    model: ModelInfo,
    tools: ToolCalling,
    output: StructuredOutput | None,
) -> tuple[TopLogprobs, Sampling, tuple[str, ...]]:
    """Returns what of these settings has its effect in such a request, and the fields that have none: beside what only
    the pipeline can do, the chosen token alone is shown, and a token that the model lacks has no score."""
    of_pipeline = (
        output is not None
        or tools.forced_by is not None
        or any(tool.held for tool in tools.tools)
        or sampling.best_of > 1
    )
    if model.full_logits and not of_pipeline:
        known = tuple((id, value) for id, value in sampling.logit_bias if id < model.vocabulary_size)
        lacking = tuple(f"logit_bias.{id}" for id, _ in sampling.logit_bias if id >= model.vocabulary_size)
        return top, replace(sampling, logit_bias=known), lacking
    return (
        replace(top, count=min(1, top.count)),
        replace(sampling, logit_bias=()),
        tuple(_wanted(top, sampling)),
    )


def _wanted(top: TopLogprobs, sampling: Sampling) -> Iterator[str]:
    if top.count > 1:
        yield top.param
    if sampling.logit_bias:
        yield "logit_bias"
