"""The ASGI app: Connexion routes requests, checks keys and maps errors; the operations do the rest."""

import copy
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from connexion import AsyncApp
from connexion.middleware.exceptions import ExceptionMiddleware
from connexion.middleware.lifespan import LifespanMiddleware
from connexion.middleware.routing import RoutingMiddleware
from connexion.middleware.security import SecurityMiddleware
from connexion.resolver import Resolution, Resolver
from starlette.convertors import PathConvertor, register_url_convertor

from specvino.generated.handlers import OPERATIONS, Handlers, Reply, RequestContext
from specvino.handlers.allowance import Allowances
from specvino.handlers.store import Accounts
from specvino.server.access import BearerKeys, HeaderKeys, Hosts, Preflights, origins_middleware
from specvino.server.operations.errors import add_error_handlers
from specvino.server.operations.exchange import Exchanges, RequestId
from specvino.server.operations.operation import Drain, operations_middleware
from specvino.server.operations.routes import routes
from specvino.server.reference import Reference
from specvino.server.settings import Settings
from specvino.server.sockets import Sockets
from specvino.server.telemetry.metrics_page import MetricsPath
from specvino.server.telemetry.telemetry import Telemetry
from specvino.server.web import Web

Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]


class _AnyPath(PathConvertor):
    """A path that may contain line breaks; Starlette's own doesn't match mounted apps then (decision 070)."""

    regex = r"[\s\S]*"


register_url_convertor("path", _AnyPath())


class MissingHandler(Exception):
    """An operation of the document has no handler; `str()` names the operation and the missing method."""


def create_app(
    handlers: Handlers,
    settings: Settings,
    lifespan: Lifespan | None = None,
    telemetry: Telemetry | None = None,
    drain: Drain | None = None,
    accounts: Accounts | None = None,
) -> AsyncApp:
    """Returns the app that serves the document. To shut it down, begin `drain`. Servers with the same `accounts` share
    the limits of keys. Raises MissingHandler."""
    page = telemetry.page if telemetry else None
    bound = _bind(handlers)
    preflight = settings.system.preflight if settings.system else None
    exact = settings.system is not None and settings.system.has_exact_scheme
    extra = settings.system.extra_paths if settings.system else ()
    bound |= {path.id: bound[path.operation] for path in extra}
    app = AsyncApp(
        __name__,
        lifespan=lifespan,
        resolver=_OperationResolver(bound),
        security_map={
            "bearer": partial(BearerKeys, settings.keys, exact=exact),
            "apiKey": partial(HeaderKeys, settings.keys),
        },
        middlewares=[
            partial(Sockets, settings=settings),
            RequestId,
            partial(Exchanges, recorders=telemetry.recorders if telemetry else ()),
            *([origins_middleware(settings.origins)] if settings.origins else ()),
            ExceptionMiddleware,
            partial(Hosts, names=settings.hosts),
            *([partial(Preflights, headers=preflight)] if preflight else ()),
            partial(Web, settings=settings),
            *([partial(Reference, document=partial(_document, bound))] if settings.web else ()),
            *([partial(MetricsPath, page=page)] if page else ()),
            _Routing,
            SecurityMiddleware,
            operations_middleware(bound, settings, drain or Drain(), Allowances(settings.key_limits, accounts)),
            LifespanMiddleware,
        ],
    )
    for base_path, skeleton in routes(settings.system, keyed=bool(settings.keys)):
        # Connexion modifies the dict.
        app.add_api(copy.deepcopy(skeleton), base_path=base_path, name=base_path or "root")
    add_error_handlers(app, settings.system)
    return app


async def _document(bound: dict[str, Callable[..., Awaitable[Reply[Any]]]], path: str) -> tuple[dict[str, Any], str]:
    """Returns the server's document, as /openapi.json has it, for a page at this path, and the name of its model."""
    context = RequestContext("", path=path)
    document = await bound["get_openapi"](context, None, None)
    models = await bound["list_models"](context)
    return document.body, models.body["data"][0]["id"]


def _bind(handlers: Handlers) -> dict[str, Callable[..., Awaitable[Reply[Any]]]]:
    bound = {}
    for operation in OPERATIONS.values():
        group = getattr(handlers, operation.tag, None)
        handler = getattr(group, operation.id, None)
        if handler is None:
            raise MissingHandler(
                f"the operation {operation.id} has no handler: handlers.{operation.tag}.{operation.id} is missing"
            )
        bound[operation.id] = handler
    return bound


class _Routing(RoutingMiddleware):  # type: ignore[misc]
    """Routing by the document's paths only: a path with an extra slash is unknown, not redirected (decision 039)."""

    def add_api(self, *args: Any, **kwargs: Any) -> None:
        super().add_api(*args, **kwargs)
        self.router.redirect_slashes = False
        for mount in self.router.routes:
            mount.app.redirect_slashes = False


class _OperationResolver(Resolver):  # type: ignore[misc]
    def __init__(self, bound: dict[str, Callable[..., Awaitable[Reply[Any]]]]) -> None:
        super().__init__()
        self._bound = bound

    def resolve(self, operation: Any) -> Resolution:
        return Resolution(self._bound[operation.operation_id], operation.operation_id)
