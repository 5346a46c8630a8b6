"""GET /health, /health/live, /version and /openapi.json."""

import asyncio
import time
from collections.abc import Sequence
from importlib.metadata import version as version_of
from typing import cast

from specvino.document.loading import dialect_file, load
from specvino.document.transforms import served_at, to_32
from specvino.engine.protocol import Engine, Loading
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
        stats = [engine.stats() for engine in self._engines]
        states = [one.state for one in stats]
        if not {"ready", "idle"}.intersection(states) or "loading" in states:
            state = "loading" if "loading" in states else states[0]
            message = f"The engine is {state}"
            loading = _shown(next(filter(None, (one.loading for one in stats)), None))
            if loading:
                percent = "" if loading["percent"] is None else f" ({loading['percent']}%)"
                message += f": {loading['stage']}{percent}"
            raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, f"{message}.", retry_after=1, loading=loading)
        return Reply({"status": "ok"} if "ready" in states else {"status": "ok", "state": "idle"})

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
            document = await asyncio.to_thread(self._document.of, version)
        else:
            document = load(dialect_file(dialect))
            document = to_32(document) if version == "3.2" else document
        return Reply(cast("wire.OpenApi", served_at(context.path, document)))


def _shown(loading: Loading | None) -> wire.Loading | None:
    if loading is None:
        return None
    percent = 100 * loading.done // loading.total if loading.total else None
    return {"stage": loading.stage, "seconds": int(time.monotonic() - loading.began), "percent": percent}
