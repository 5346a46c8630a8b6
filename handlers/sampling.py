"""Sampling settings (the request's value, else the model's own, else the document's default) and thinking budgets."""

from collections.abc import Mapping

from pydantic import MISSING

from specvino.document.loading import group
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Sampling, ThinkingBudget
from specvino.generated import models
from specvino.generated.support import DEFAULTS
from specvino.handlers.or_none import or_none, value_of

Body = models.CreateChatCompletionRequest | models.CreateCompletionRequest | models.CreateResponseRequest


def sampling(body: Body, model: Mapping[str, float | int]) -> Sampling:
    """Returns the effective settings; `model` are those of the model's generation_config.json."""
    fallback = DEFAULTS[type(body).__name__] | dict(model)
    best_of = or_none(body.best_of) or 1
    if best_of > 1:  # a beam search: conditions reject the request's penalties, and the model's own don't apply
        fallback |= {"frequency_penalty": 0, "presence_penalty": 0, "repetition_penalty": 1}
    length_penalty = or_none(body.length_penalty)

    def settle(value: float | None, name: str) -> float:
        return fallback[name] if value is None else value

    return Sampling(
        max_tokens=_max_tokens(body),
        temperature=settle(or_none(body.temperature), "temperature"),
        top_p=settle(or_none(body.top_p), "top_p"),
        top_k=int(settle(or_none(body.top_k), "top_k")),
        frequency_penalty=settle(or_none(body.frequency_penalty), "frequency_penalty"),
        presence_penalty=settle(or_none(body.presence_penalty), "presence_penalty"),
        repetition_penalty=settle(or_none(body.repetition_penalty), "repetition_penalty"),
        seed=or_none(body.seed),
        stop=_stop(body.stop),
        stop_token_ids=frozenset(or_none(body.stop_token_ids) or ()),
        min_tokens=or_none(body.min_tokens) or 0,
        ignore_eos=or_none(body.ignore_eos) or False,
        min_p=settle(or_none(body.min_p), "min_p"),
        best_of=best_of,
        length_penalty=1.0 if length_penalty is None else length_penalty,
        include_stop_str_in_output=or_none(body.include_stop_str_in_output) or False,
        skip_special_tokens=or_none(body.skip_special_tokens) is not False,
        logit_bias=tuple({int(id): value for id, value in (or_none(body.logit_bias) or {}).items()}.items()),
        allowed_token_ids=tuple(value_of(body, "allowed_token_ids") or ()),
        bad_words_token_ids=tuple(value_of(body, "bad_words_token_ids") or ()),
        bad_words=tuple(value_of(body, "bad_words") or ()),
        num_assistant_tokens=or_none(body.num_assistant_tokens),
        assistant_confidence_threshold=or_none(body.assistant_confidence_threshold),
        max_ngram_size=or_none(body.max_ngram_size),
    )


def thinking_budget(body: Body, model: ModelInfo) -> tuple[ThinkingBudget | None, tuple[str, ...]]:
    """Returns the budget, None without one, and the field without effect if the model doesn't support budgets. If
    several fields are given, the first one of the group counts.
    """
    for name in group("thinking_budget").paths:
        tokens = value_of(body, name)
        if tokens is None:
            continue
        if tokens < 0:  # no budget
            return None, ()
        if not model.thinking_budgets:
            return None, (name,)
        return ThinkingBudget(tokens, value_of(body, "reasoning_budget_message") or ""), ()
    return None, ()


def _max_tokens(body: Body) -> int | None:
    """Returns the first token limit of the group that is given."""
    limits = (value_of(body, name) for name in group("token_limits").paths)
    return next((limit for limit in limits if limit is not None), None)


def _stop(value: str | list[str] | None | MISSING) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else ()
