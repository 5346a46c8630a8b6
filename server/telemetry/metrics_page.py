"""GET /metrics: Prometheus metrics, on the API's port or on a separate one.

Like /docs it isn't an operation of the API, so it isn't in the document.
"""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import uvicorn
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from specvino.handlers.errors import ApiError
from specvino.server.access import BearerKeys
from specvino.server.operations import errors

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PATH = "/metrics"


class MetricsPage:
    """The metrics page, which requires one of `keys`, if there are any. Raises ApiError.

    `gather` returns the metrics of all replicas, to show instead of this process's own.
    """

    def __init__(self, registry: CollectorRegistry, keys: frozenset[str]) -> None:
        self.gather: Callable[[], Awaitable[bytes]] | None = None
        self._registry = registry
        self._check = BearerKeys(keys).get_fn({}, []) if keys else None

    @property
    def route(self) -> Route:
        return Route(PATH, self._answer)

    def own(self) -> bytes:
        """Returns the metrics of this process, in Prometheus' text format."""
        return generate_latest(self._registry)

    async def _answer(self, request: Request) -> Response:
        if self._check is not None:
            self._check(request)
        text = await self.gather() if self.gather else self.own()
        return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)


class MetricsPath:
    """ASGI middleware that serves the page on the API's port. It runs inside the exception middleware."""

    def __init__(self, app: ASGIApp, page: MetricsPage) -> None:
        self.app = app
        self._router = Router(routes=[page.route], redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_ours = scope["type"] == "http" and scope["path"] == PATH
        await (self._router if is_ours else self.app)(scope, receive, send)


def metrics_app(page: MetricsPage) -> Starlette:
    """Returns an app that serves only the page, for a separate port."""

    async def on_error(_: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        body = msgspec.json.encode(error.body())
        return Response(body, error.kind.status, errors.headers(error), "application/json")

    app = Starlette(routes=[page.route], exception_handlers={ApiError: on_error})
    app.router.redirect_slashes = False
    return app


# More than monitoring needs; limits the load of other clients.
_CONNECTIONS = 32


@asynccontextmanager
async def serving_metrics(app: Any, listener: socket.socket) -> AsyncIterator[None]:
    """Serves an app on a socket while the context is active, in a separate thread: it responds even if the server's
    event loop is busy."""
    config = uvicorn.Config(
        app,
        http="httptools",
        log_config=None,
        access_log=False,
        lifespan="off",
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.to_thread(thread.join)
