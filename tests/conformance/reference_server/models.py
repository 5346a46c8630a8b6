"""The models, and the state of the service."""

from typing import Any

from reference_server.http import Call, Route
from reference_server.part import Part
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode

SINCE = 1_700_000_000


class Models(Part):
    """GET /models, /models/{model}, /health and /version."""

    routes = (
        Route("GET", "/models", "list_models"),
        Route("GET", "/models/{model}", "retrieve_model"),
        Route("GET", "/health", "health", root=True, open=True),
        Route("GET", "/version", "version", root=True, open=True),
    )

    def list_models(self, call: Call) -> dict[str, Any]:
        return {"object": "list", "data": [self.described(self.server.model)]}

    def retrieve_model(self, call: Call) -> dict[str, Any]:
        self.require_model(call.parameters["model"])
        return self.described(self.server.model)

    def described(self, model: str) -> dict[str, Any]:
        return {"id": model, "object": "model", "created": SINCE, "owned_by": "specvino"}

    def require_model(self, model: str) -> None:
        """Raises Refusal for a model that isn't served."""
        if model != self.server.model:
            raise Refusal(ErrorCode.MODEL_NOT_FOUND, f"The model {model[:200]!r} is not served here.", "model")

    def health(self, call: Call) -> dict[str, Any]:
        return {"status": "ok"}

    def version(self, call: Call) -> dict[str, Any]:
        return {"version": "0.1.0"}
