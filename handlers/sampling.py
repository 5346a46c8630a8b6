"""Settings of the generation: the request's value, else the model's own, else the document's default."""

from collections.abc import Iterator, Mapping

from pydantic import MISSING

from specvino.engine.request import Sampling
from specvino.generated import models
from specvino.generated.support import DEFAULTS
from specvino.handlers.given import given

Body = models.CreateChatCompletionRequest | models.CreateCompletionRequest | models.CreateResponseRequest


def sampling(body: Body, max_tokens: int | None, model: Mapping[str, float | int]) -> Sampling:
    """`model` holds the settings of the model's generation_config.json."""
    fallback = DEFAULTS[type(body).__name__] | dict(model)
    best_of = given(body.best_of) or 1
    if best_of > 1:  # there the engine has no penalties: the request may name none, and the model's own don't count
        fallback |= {"frequency_penalty": 0, "presence_penalty": 0, "repetition_penalty": 1}
    length_penalty = given(body.length_penalty)

    def settle(value: float | None, name: str) -> float:
        return fallback[name] if value is None else value

    return Sampling(
        max_tokens=max_tokens,
        temperature=settle(given(body.temperature), "temperature"),
        top_p=settle(given(body.top_p), "top_p"),
        top_k=int(settle(given(body.top_k), "top_k")),
        frequency_penalty=settle(given(body.frequency_penalty), "frequency_penalty"),
        presence_penalty=settle(given(body.presence_penalty), "presence_penalty"),
        repetition_penalty=settle(given(body.repetition_penalty), "repetition_penalty"),
        seed=given(body.seed),
        stop=_stop(body.stop),
        stop_token_ids=frozenset(given(body.stop_token_ids) or ()),
        min_tokens=given(body.min_tokens) or 0,
        ignore_eos=given(body.ignore_eos) or False,
        min_p=settle(given(body.min_p), "min_p"),
        best_of=best_of,
        length_penalty=1.0 if length_penalty is None else length_penalty,
        include_stop_str_in_output=given(body.include_stop_str_in_output) or False,
        skip_special_tokens=given(body.skip_special_tokens) is not False,
        num_assistant_tokens=given(body.num_assistant_tokens),
        assistant_confidence_threshold=given(body.assistant_confidence_threshold),
        max_ngram_size=given(body.max_ngram_size),
    )


def beyond_forms(body: Body) -> Iterator[str]:
    """The settings of a request with which the pipeline can't be held to a form or a call: it would go on without."""
    yield from ("ignore_eos",) if given(body.ignore_eos) else ()
    yield from ("min_tokens",) if given(body.min_tokens) else ()
    yield from ("best_of",) if (given(body.best_of) or 1) > 1 else ()


def _stop(value: str | list[str] | None | MISSING) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else ()
