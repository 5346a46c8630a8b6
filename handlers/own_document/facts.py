"""What is true of one running server, and not of every one."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from specvino.engine.protocol import ModelInfo
from specvino.handlers.limits import Limits


@dataclass(frozen=True, slots=True)
class Door:
    """What stands before the handlers: whether the server asks for a key, the largest body in bytes, and how many
    elements a list in it may have. None is no limit that is known here."""

    asks_for_key: bool = False
    max_body: int | None = None
    max_items: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the document is made to say. `keeps` tells whether responses are stored; `model` is None before it is
    loaded."""

    names: tuple[str, ...]
    model: ModelInfo | None = None
    keeps: bool = False
    limits: Limits = field(default_factory=Limits)
    door: Door = field(default_factory=Door)


def widest(models: Sequence[ModelInfo]) -> ModelInfo:
    """Returns what holds for requests to any of a server's models: which of them a body is for, its bounds can't tell.

    Speculative decoding is the same for all."""
    return replace(
        models[0],
        context_length=max(model.context_length for model in models),
        vocabulary_size=max(model.vocabulary_size for model in models),
        vision=any(model.vision for model in models),
        full_logits=any(model.full_logits for model in models),
    )
