"""GET /health, /version and /openapi.json."""

import json
from functools import cache
from importlib.metadata import version as version_of
from importlib.resources import files
from typing import Literal

from specvino.engine.protocol import Engine
from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.errors import ApiError


class Service:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def get_health(self, context: RequestContext) -> Reply[wire.Health]:
        state = self._engine.stats().state
        if state != "ready":
            raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, f"The engine is {state}.", retry_after=1)
        return Reply({"status": "ok"})

    async def get_version(self, context: RequestContext) -> Reply[wire.Version]:
        return Reply({"version": version_of("specvino")})

    async def get_openapi(
        self,
        context: RequestContext,
        dialect: Literal["openai", "ovms", "vllm", "mlc-llm", "fastdeploy"] | None,
        version: Literal["3.1", "3.2"] | None,
    ) -> Reply[wire.OpenApi]:
        if dialect is None:
            return Reply(_document("openapi-3.1.json" if version == "3.1" else "openapi.json"))
        if version == "3.2":
            message = f"version is '3.2', but the document of {dialect} is there in '3.1' only."
            raise ApiError(ErrorCode.INVALID_VALUE, message, param="version")
        return Reply(_document(f"dialects/{dialect}.json"))


@cache
def _document(name: str) -> wire.OpenApi:
    path = files("specvino.generated").joinpath(*name.split("/"))
    document: wire.OpenApi = json.loads(path.read_text("utf-8"))
    return document
