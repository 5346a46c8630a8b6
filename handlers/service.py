"""GET /health, /health/live, /version and /openapi.json."""

import asyncio
from collections.abc import Sequence
from importlib.metadata import version as version_of
from typing import cast

from specvino.document.loading import dialect_file, load
from specvino.document.transforms import served_at, to_32
from specvino.engine.protocol import Engine
from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import GetOpenapiDialect, GetOpenapiVersion, Reply, RequestContext
from specvino.handlers.errors import ApiError
from specvino.handlers.own_document import OwnDocument


class Service:
    """GET /health, /health/live, /version and /openapi.json."""

    def __init__(self, engines: Sequence[Engine], document: OwnDocument) -> None:
        self._engines = engines
        self._document = document

    async def get_health(self, context: RequestContext) -> Reply[wire.Health]:
        # After all models have loaded, the failure of one doesn't affect requests to the others.
        states = [engine.stats().state for engine in self._engines]
        if "ready" not in states or "loading" in states:
            state = "loading" if "loading" in states else states[0]
            raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, f"The engine is {state}.", retry_after=1)
        return Reply({"status": "ok"})

    async def get_liveness(self, context: RequestContext) -> Reply[wire.Liveness]:
        return Reply({"status": "ok"})

    async def get_version(self, context: RequestContext) -> Reply[wire.Version]:
        return Reply({"version": version_of("specvino")})

    async def get_openapi(
        self,
        context: RequestContext,
        dialect: GetOpenapiDialect | None,
        version: GetOpenapiVersion | None,
    ) -> Reply[wire.OpenApi]:
        if dialect is None:
            # In a thread: the first request creates it, which would block streams for a tenth of a second.
            document = await asyncio.to_thread(self._document.of, version or "3.2")
        else:
            document = load(dialect_file(dialect))
            document = to_32(document) if version == "3.2" else document
        return Reply(cast("wire.OpenApi", served_at(context.path, document)))
