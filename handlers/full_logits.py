"""Settings that need the scores of the whole vocabulary: the most likely tokens at each position, the logprobs of a
prompt, and changes of single tokens' scores.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from specvino.document.loading import group
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import FULL_LOGITS_SETTINGS, GenerationRequest, Sampling

_UNUSED: dict[str, Any] = {
    setting.name: setting.default for setting in fields(Sampling) if setting.name in FULL_LOGITS_SETTINGS
}


def shown_logprobs(request: GenerationRequest) -> int:
    """Returns how many tokens are returned at each position. `logprob_token_ids` come after the chosen token."""
    return 1 + len(request.logprob_token_ids) if request.logprob_token_ids else request.top_logprobs


def without_full_logits(
    request: GenerationRequest, model: ModelInfo, *, top_param: str, held: bool
) -> tuple[GenerationRequest, tuple[str, ...]]:
    """Drops the settings that the process for this request doesn't support; returns the rest and the dropped fields.
    Only the pipeline supports constrained outputs and calls (`held` means that calls must satisfy the schemas of strict
    tools) and beam searches. It returns the logprobs of the answer's tokens, but neither those of other tokens nor
    those of a prompt. Other requests that need full logits go to the full-logits process, if the model has one; it has
    no speculative decoding. `top_param` is the field that requests `top_logprobs`.
    """
    sampling = request.sampling
    # An answer without tokens has neither a beam search nor a constraint.
    of_pipeline = sampling.max_tokens != 0 and (
        request.constraint is not None or request.must_call or held or sampling.best_of > 1
    )
    if of_pipeline or not model.full_logits:
        dropped = tuple(_needing_full_logits(request, top_param))
        sampling = replace(sampling, **_UNUSED)
        top = min(1, request.top_logprobs)
        return replace(
            request, sampling=sampling, top_logprobs=top, logprob_token_ids=(), prompt_logprobs=None
        ), dropped
    dropped = ()
    if request.logprob_token_ids and not request.logprobs:
        request = replace(request, logprob_token_ids=())
        dropped = ("logprob_token_ids",)
    if model.drafting is not None and (request.needs_full_logits or sampling.min_tokens > 0):
        dropped += tuple(name for name in group("draft_settings").paths if getattr(sampling, name) is not None)
    return request, dropped


def _needing_full_logits(request: GenerationRequest, top_param: str) -> Iterator[str]:
    """Yields the fields of a request that need the scores of the whole vocabulary."""
    if request.top_logprobs > 1 or request.echoes_logprobs:
        yield top_param
    if request.logprob_token_ids:
        yield "logprob_token_ids"
    if request.prompt_logprobs is not None:
        yield "prompt_logprobs"
    yield from (name for name in FULL_LOGITS_SETTINGS if getattr(request.sampling, name))
