"""The facts about one running server."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specvino.engine.protocol import ModelInfo
from specvino.handlers.limits import Limits


@dataclass(frozen=True, slots=True)
class Door:
    """The limits of the HTTP server: whether a key is required, the largest body in bytes, and the maximum number of
    elements of a list. None is an unknown limit. With `system` the server emulates that system.
    """

    asks_for_key: bool = False
    max_body: int | None = None
    max_items: int | None = None
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about the server in its document. `model` is None before it is loaded. With `mixed_vision` some of its
    models read images and some don't.
    """

    names: tuple[str, ...]
    model: ModelInfo | None = None
    limits: Limits = field(default_factory=Limits)
    door: Door = field(default_factory=Door)
    mixed_vision: bool = False

    def of_conditions(self) -> dict[str, Any]:
        """Returns the facts that conditions depend on, by name."""
        if self.model is None:
            return self.limits.facts
        facts = self.limits.facts_with(self.model)
        if self.mixed_vision:
            del facts["vision"]
        return facts


def widest(models: Sequence[ModelInfo]) -> ModelInfo:
    """Returns the widest limits of a server's models: the bounds of a body can't depend on its model.

    Speculative decoding is the same for all."""
    return replace(
        models[0],
        context_length=max(model.context_length for model in models),
        vocabulary_size=max(model.vocabulary_size for model in models),
        vision=any(model.vision for model in models),
        full_logits=any(model.full_logits for model in models),
        tokenizer_tokens=min(filter(None, (model.tokenizer_tokens for model in models)), default=None),
    )
