"""What needs the scores of the whole vocabulary: the likeliest tokens at each place, a prompt's logprobs, and what is
done to the scores of single tokens."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from specvino.document.loading import group
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Sampling
from specvino.handlers.or_none import value_of
from specvino.handlers.sampling import Body
from specvino.handlers.structured_outputs import StructuredOutput
from specvino.handlers.tools import ToolCalling

# The most of the likeliest tokens at each place of a prompt.
_MOST_OF_PROMPT = 20


@dataclass(frozen=True, slots=True)
class LogprobFields:
    """Says whether logprobs are `wanted`, how many of the likeliest tokens to show at each place, and the field that
    says so; or which tokens, by their ids, in their place. `of_prompt` is how many of the likeliest to show beside each
    token of the prompt, None for no logprobs of the prompt, and `echoed` says that the prompt is repeated."""

    wanted: bool = False
    top: int = 0
    param: str = "top_logprobs"
    token_ids: tuple[int, ...] = ()
    of_prompt: int | None = None
    echoed: bool = False

    @property
    def shown(self) -> int:
        """Tells how many tokens stand at each place: before those that are named stands the chosen one."""
        return 1 + len(self.token_ids) if self.token_ids else self.top

    @property
    def need_full_logits(self) -> bool:
        """Tells whether the pipeline can't tell them."""
        of_tokens = self.wanted and (self.top > 1 or self.echoed or bool(self.token_ids))
        return of_tokens or self.of_prompt is not None


def logprob_fields(
    body: Body, *, wanted: bool, top: int, param: str = "top_logprobs", echoed: bool = False
) -> LogprobFields:
    """Returns what a body says of logprobs."""
    of_prompt = value_of(body, "prompt_logprobs")
    return LogprobFields(
        wanted,
        top,
        param,
        tuple(dict.fromkeys(value_of(body, "logprob_token_ids") or ())),
        of_prompt if of_prompt is not None and 0 <= of_prompt <= _MOST_OF_PROMPT else None,
        echoed,
    )


def without_full_logits(
    asked: LogprobFields,
    sampling: Sampling,
    model: ModelInfo,
    tools: ToolCalling,
    output: StructuredOutput | None,
) -> tuple[LogprobFields, Sampling, tuple[str, ...]]:
    """Returns what of these settings has its effect in such a request, and the fields that have none: beside what only
    the pipeline can do, the chosen token alone is shown; a token that the model lacks has no score; and beside what the
    pipeline can't do there are no drafts."""
    # An answer without tokens is neither searched nor constrained.
    of_pipeline = sampling.max_tokens != 0 and (
        output is not None
        or tools.forced_by is not None
        or any(tool.held for tool in tools.tools)
        or sampling.best_of > 1
    )
    if model.full_logits and not of_pipeline:
        known = tuple((id, value) for id, value in sampling.logit_bias if id < model.vocabulary_size)
        lacking = [f"logit_bias.{id}" for id, _ in sampling.logit_bias if id >= model.vocabulary_size]
        vain = ["logprob_token_ids"] if asked.token_ids and not asked.wanted else []
        shown = replace(asked, token_ids=()) if vain else asked
        sampling = replace(sampling, logit_bias=known)
        full = shown.need_full_logits or sampling.needs_full_logits or sampling.min_tokens > 0
        drafts = group("draft_settings").paths if model.drafting is not None and full else ()
        return shown, sampling, (*vain, *lacking, *(name for name in drafts if getattr(sampling, name) is not None))
    return (
        replace(asked, top=min(1, asked.top), token_ids=(), of_prompt=None),
        replace(sampling, logit_bias=(), allowed_token_ids=(), bad_words_token_ids=(), bad_words=()),
        tuple(_wanted(asked, sampling)),
    )


def _wanted(asked: LogprobFields, sampling: Sampling) -> Iterator[str]:
    if asked.top > 1 or (asked.wanted and asked.echoed):
        yield asked.param
    if asked.token_ids:
        yield "logprob_token_ids"
    if asked.of_prompt is not None:
        yield "prompt_logprobs"
    if sampling.logit_bias:
        yield "logit_bias"
    if sampling.allowed_token_ids:
        yield "allowed_token_ids"
    if sampling.bad_words:
        yield "bad_words"
    if sampling.bad_words_token_ids:
        yield "bad_words_token_ids"
