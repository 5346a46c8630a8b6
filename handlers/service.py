"""GET /health, /health/live, /version and /openapi.json."""

from importlib.metadata import version as version_of
from typing import Literal, cast

from specvino.document.loading import OPENAPI_31, OPENAPI_32, dialect_file, load
from specvino.engine.protocol import Engine
from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.errors import ApiError


class Service:
    """GET /health, /health/live, /version and /openapi.json."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def get_health(self, context: RequestContext) -> Reply[wire.Health]:
        state = self._engine.stats().state
        if state != "ready":
            raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, f"The engine is {state}.", retry_after=1)
        return Reply({"status": "ok"})

    async def get_liveness(self, context: RequestContext) -> Reply[wire.Liveness]:
        return Reply({"status": "ok"})

    async def get_version(self, context: RequestContext) -> Reply[wire.Version]:
        return Reply({"version": version_of("specvino")})

    async def get_openapi(
        self,
        context: RequestContext,
        dialect: Literal["openai", "ovms", "vllm", "mlc-llm", "fastdeploy", "sglang"] | None,
        version: Literal["3.1", "3.2"] | None,
    ) -> Reply[wire.OpenApi]:
        if dialect is None:
            return Reply(cast("wire.OpenApi", load(OPENAPI_31 if version == "3.1" else OPENAPI_32)))
        if version == "3.2":
            message = f"version is '3.2', but the document of {dialect} is there in '3.1' only."
            raise ApiError(ErrorCode.INVALID_VALUE, message, param="version")
        return Reply(cast("wire.OpenApi", load(dialect_file(dialect))))
