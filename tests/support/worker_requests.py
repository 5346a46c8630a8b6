"""What the worker process is asked, from settings in one flat list."""

from dataclasses import fields
from typing import Any

from specvino.engine.openvino.messages.worker import Generate
from specvino.engine.request import Sampling

# No setting of it changes what the model says by itself.
NEUTRAL = Sampling(
    max_tokens=None,
    temperature=0,
    top_p=1,
    top_k=-1,
    frequency_penalty=0,
    presence_penalty=0,
    repetition_penalty=1,
)

_OWN = {
    "id",
    "token_ids",
    "max_new_tokens",
    "seed",
    "n",
    "logprobs",
    "echo",
    "vision_prompt",
    "lowered",
    "owner",
    "client",
    "copies",
    "priority",
}


def generate(id: int, token_ids: bytes, max_new_tokens: int, *, seed: int = 0, **settings: Any) -> Generate:
    """A greedy request, with `settings` of Generate and of Sampling by their names; it is a `request` of its own."""
    request = settings.pop("request", id)
    own = {name: settings.pop(name) for name in _OWN & settings.keys()}
    neutral = {field.name: getattr(NEUTRAL, field.name) for field in fields(Sampling)}
    return Generate(id, request, token_ids, Sampling(**{**neutral, **settings}), max_new_tokens, seed, **own)
