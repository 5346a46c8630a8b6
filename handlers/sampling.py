"""Sampling settings (the request's value, else the model's own, else the document's default) and thinking budgets."""

from collections.abc import Mapping
from dataclasses import fields as attributes
from types import MappingProxyType
from typing import Any

from specvino.document.loading import group
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Sampling, ThinkingBudget
from specvino.generated import models
from specvino.generated.support import DEFAULTS, SHAPES
from specvino.handlers.fields import value_at, value_of

Body = (
    models.CreateChatCompletionRequest
    | models.CreateCompletionRequest
    | models.CreateResponseRequest
    | models.CreateMessageRequest
    | models.CountTokensRequest
    | models.OllamaChatRequest
    | models.OllamaGenerateRequest
)

# The settings of an endpoint that doesn't have them.
_NEUTRAL: dict[str, Any] = {setting.name: setting.default for setting in attributes(Sampling)}

_NO_PENALTIES = {name: _NEUTRAL[name] for name in ("frequency_penalty", "presence_penalty", "repetition_penalty")}


def sampling(body: Body, model: Mapping[str, float | int], names: Mapping[str, str] = MappingProxyType({})) -> Sampling:
    """Returns the effective settings; `model` are those of the model's generation_config.json. `names` has the paths of
    settings that have another name in the body, or are in an object.
    """
    fallback = _NEUTRAL | _defaults(body, names) | dict(model)
    best_of = value_of(body, "best_of") or 1
    if best_of > 1:  # a beam search: conditions reject the request's penalties, and the model's own don't apply
        fallback |= _NO_PENALTIES
    length_penalty = value_of(body, "length_penalty")

    def setting(name: str) -> Any:
        return value_at(body, names.get(name, name))

    def settle(name: str) -> float:
        value: float | None = setting(name)
        return fallback[name] if value is None else value

    return Sampling(
        max_tokens=_max_tokens(body),
        temperature=settle("temperature"),
        top_p=settle("top_p"),
        top_k=int(settle("top_k")) or -1,
        frequency_penalty=settle("frequency_penalty"),
        presence_penalty=settle("presence_penalty"),
        repetition_penalty=settle("repetition_penalty"),
        seed=setting("seed"),
        stop=_stop(setting("stop") or value_of(body, "stop_sequences")),
        stop_token_ids=frozenset(value_of(body, "stop_token_ids") or ()),
        min_tokens=value_of(body, "min_tokens") or 0,
        ignore_eos=value_of(body, "ignore_eos") or False,
        min_p=settle("min_p"),
        best_of=best_of,
        length_penalty=1.0 if length_penalty is None else length_penalty,
        include_stop_str_in_output=value_of(body, "include_stop_str_in_output") or False,
        skip_special_tokens=value_of(body, "skip_special_tokens") is not False,
        logit_bias=tuple({int(id): value for id, value in (value_of(body, "logit_bias") or {}).items()}.items()),
        allowed_token_ids=tuple(value_of(body, "allowed_token_ids") or ()),
        bad_words_token_ids=tuple(value_of(body, "bad_words_token_ids") or ()),
        bad_words=tuple(value_of(body, "bad_words") or ()),
        num_assistant_tokens=value_of(body, "num_assistant_tokens"),
        assistant_confidence_threshold=value_of(body, "assistant_confidence_threshold"),
        max_ngram_size=value_of(body, "max_ngram_size"),
    )


def thinking_budget(body: Body, model: ModelInfo) -> tuple[ThinkingBudget | None, tuple[str, ...]]:
    """Returns the budget, None without one, and the field without effect if the model doesn't support budgets. If
    several fields are given, the first one of the group counts.
    """
    for name in group("thinking_budget").paths:
        tokens = value_at(body, name)
        if tokens is None:
            continue
        if tokens < 0:  # no budget
            return None, ()
        if not model.thinking_budgets:
            return None, (name,)
        return ThinkingBudget(tokens, value_of(body, "reasoning_budget_message") or ""), ()
    return None, ()


def _defaults(body: Body, names: Mapping[str, str]) -> dict[str, Any]:
    """Returns the document's defaults of the settings."""
    fields = SHAPES[type(body).__name__].fields
    defaults = DEFAULTS[type(body).__name__]
    for name, path in names.items():
        owner, _, field = path.rpartition(".")
        inside = DEFAULTS.get((fields[owner].shape if owner else None) or "", {})
        if field in inside:
            defaults = {**defaults, name: inside[field]}
    return defaults


def _max_tokens(body: Body) -> int | None:
    """Returns the first token limit of the group that is given. Negative ones set none."""
    limits = (value_at(body, name) for name in group("token_limits").paths)
    return next((limit for limit in limits if limit is not None and limit >= 0), None)


def _stop(value: str | list[str] | None) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else ()
