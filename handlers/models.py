"""GET /models and /models/{model}."""

from dataclasses import dataclass

from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.errors import ApiError


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The names under which the one loaded model is served, the first its own; since when (Unix seconds)."""

    names: tuple[str, ...]
    created: int

    def require(self, name: str) -> None:
        """Raises ApiError for a name that is not served."""
        if name not in self.names:
            served = ", ".join(self.names)
            message = f"The model {name[:200]!r} is not served here; served are: {served}."
            raise ApiError(ErrorCode.MODEL_NOT_FOUND, message, param="model")


class Models:
    """GET /models and /models/{model}."""

    def __init__(self, served: ServedModel) -> None:
        self._served = served

    async def list_models(self, context: RequestContext) -> Reply[wire.ModelList]:
        return Reply({"object": "list", "data": [self._describe(name) for name in self._served.names]})

    async def retrieve_model(self, context: RequestContext, model: str) -> Reply[wire.Model]:
        self._served.require(model)
        return Reply(self._describe(model))

    def _describe(self, name: str) -> wire.Model:
        return {"id": name, "object": "model", "created": self._served.created, "owned_by": "specvino"}
