"""GET /health and /version."""

from importlib.metadata import version

from specvino.engine.protocol import Engine
from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.errors import ApiError


class Service:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def get_health(self, context: RequestContext) -> wire.Health:
        state = self._engine.stats().state
        if state != "ready":
            raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, f"The engine is {state}.", retry_after=1)
        return {"status": "ok"}

    async def get_version(self, context: RequestContext) -> wire.Version:
        return {"version": version("specvino")}
