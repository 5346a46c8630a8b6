"""Settings of the generation: the request's value, else the model's own, else the document's default."""

from collections.abc import Mapping

from pydantic import MISSING

from specvino.engine.request import Sampling
from specvino.generated import models
from specvino.generated.support import DEFAULTS
from specvino.handlers.given import given

Body = models.CreateChatCompletionRequest | models.CreateCompletionRequest | models.CreateResponseRequest


def sampling(body: Body, max_tokens: int | None, model: Mapping[str, float | int]) -> Sampling:
    """`model` holds the settings of the model's generation_config.json."""
    fallback = DEFAULTS[type(body).__name__] | dict(model)

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
        ignore_eos=given(body.ignore_eos) or False,
    )


def _stop(value: str | list[str] | None | MISSING) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else ()
