"""The served models, and GET /models and /models/{model}."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from specvino.engine.errors import EngineUnavailable
from specvino.engine.protocol import Engine, ModelInfo
from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.errors import ApiError
from specvino.handlers.measuring import Observer


@dataclass(frozen=True, slots=True)
class Adapter:
    """A LoRA adapter: its own name, its path, and the name of the model that it changes."""

    name: str
    path: Path
    base: str


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model with its engine. `names` are its served names, its own first; `created` is its creation time (Unix
    seconds). `observers` receive the measurements of its generations. `adapter` is what makes it another model.
    """

    names: tuple[str, ...]
    created: int
    engine: Engine
    observers: Sequence[Observer] = ()
    adapter: Adapter | None = None


def unknown_model(name: str, names: Iterable[str]) -> ApiError:
    """Returns the error for a model that is none of those with these names."""
    message = f"The model {name[:200]!r} is not served here; available: {', '.join(names)}."
    return ApiError(ErrorCode.MODEL_NOT_FOUND, message, param="model")


class ServedModels:
    """All models of a server, by name."""

    def __init__(self, models: Sequence[ServedModel]) -> None:
        self._by_name = {name: model for model in models for name in model.names}
        self.engines = [model.engine for model in models]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def require(self, name: str) -> ServedModel:
        """Returns the model with this name. Raises ApiError if it is not served."""
        model = self._by_name.get(name)
        if model is None:
            raise unknown_model(name, self.names)
        return model


class Models:
    """GET /models and /models/{model}."""

    def __init__(self, served: ServedModels) -> None:
        self._served = served

    async def list_models(self, context: RequestContext) -> Reply[wire.ModelList]:
        return Reply({"object": "list", "data": [self._describe(name) for name in self._served.names]})

    async def retrieve_model(self, context: RequestContext, model: str) -> Reply[wire.Model]:
        return Reply(self._describe(model))

    def _describe(self, name: str) -> wire.Model:
        served = self._served.require(name)
        described: wire.Model = {"id": name, "object": "model", "created": served.created, "owned_by": "specvino"}
        if served.adapter:
            described.update({"root": str(served.adapter.path), "parent": served.adapter.base})
        with suppress(EngineUnavailable):  # the model is loading
            model = served.engine.model
            described.update(cast("wire.Model", _properties(model)))
            if model.template_lacks:
                described["chat_template_lacks"] = list(model.template_lacks)
            if lacks := served.engine.lacks_memory:
                described["insufficient_memory"] = list(lacks)
        return described


def _properties(model: ModelInfo) -> dict[str, Any]:
    """Returns what clients read of a model, under the names of vLLM, llama.cpp and others."""
    size = {"size": model.weights} if model.weights else {}
    can = {"completion": True, "tools": model.calling is not None, "thinking": bool(model.thinking_variables)}
    return {
        "max_model_len": model.context_length,
        "context_length": model.context_length,
        "capabilities": [name for name, has in {**can, "vision": model.vision}.items() if has],
        "architecture": {
            "input_modalities": ["text", "image"] if model.vision else ["text"],
            "output_modalities": ["text"],
        },
        "meta": {"n_vocab": model.vocabulary_size, "n_ctx": model.context_length, **size},
    }
